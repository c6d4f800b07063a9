/**
 * The store's one timer for what it waits for. Everything that waits for a time has a bell; the
 * timer sleeps until the first of them is due, rings all that are, and sleeps again. Only how long
 * the journal may take to answer is timed apart, by the committer.
 *
 * A bell is set for an instant of the log, or for a span of real time. How long an instant is away
 * is asked anew whenever the timer fires and whenever the log's time may have moved (`review`), so
 * a clock that was set forward or back is noticed at the next of either. Timers fire late in frozen
 * tabs and after sleep; late is normal, and early only sets the timer again.
 *
 * **Invariant**: no bell rings before its time, and none more than once for one setting. A bell
 * that was silenced, or set anew, by another one of the same moment does not ring.
 *
 * **Invariant**: the timer keeps the process alive only while a bell is set that is to do so.
 *
 * **Invariant**: a bell that throws keeps no other one from ringing.
 *
 * **Cost**: setting and silencing a bell is O(log bells), looking again is O(1).
 */
import type { LogClock, Timer } from './clock.js';
import { type Dated, Deadlines } from './deadlines.js';

/** Rings once for each setting. Setting it again replaces what was set before. */
export interface Bell {
  /** For when the log's time is `at`, in milliseconds since the epoch. */
  ringAt(at: number): void;
  /** For `ms` milliseconds of real time from now, whatever the wall clock does. */
  ringAfter(ms: number): void;
  /** Idempotent. */
  silence(): void;
}

export type Life = 'keeps the process alive' | 'lets the process end';

/** On which clock it is due; null while it is not set. */
type Face = 'log' | 'monotonic' | null;

interface Setting extends Dated {
  face: Face;
  at: number;
  readonly isVital: boolean;
  readonly ring: () => void;
}

export class Alarm {
  readonly #clock: LogClock;
  /** Of each clock, in the order in which they are due: that does not depend on the other. */
  readonly #set = { log: new Deadlines<Setting>(), monotonic: new Deadlines<Setting>() };
  /** Due, and about to ring. */
  readonly #ringing = new Set<Setting>();
  /** When it fires, on the monotonic clock. */
  #timer: { at: number; timer: Timer } | null = null;
  /** How many of the bells that are set keep the process alive. */
  #vital = 0;

  constructor(clock: LogClock) {
    this.#clock = clock;
  }

  /** A bell that is not set yet. `ring` must not throw. */
  bell(life: Life, ring: () => void): Bell {
    const isVital = life === 'keeps the process alive';
    const setting: Setting = { face: null, at: 0, place: -1, order: 0, isVital, ring };
    return {
      ringAt: (at) => this.#change(setting, 'log', at),
      ringAfter: (ms) => this.#change(setting, 'monotonic', this.#clock.monotonic() + ms),
      silence: () => this.#change(setting, null, 0),
    };
  }

  /** Looks again: the log's time may have moved. */
  review(): void {
    this.#arm(this.#first());
  }

  #change(setting: Setting, face: Face, at: number): void {
    this.#ringing.delete(setting);
    const wasFirst = this.#isFirst(setting);
    this.#unset(setting);
    if (face !== null) {
      setting.face = face;
      setting.at = at;
      this.#set[face].add(setting);
      this.#count(setting, 1);
    }
    if (wasFirst || this.#isFirst(setting) || this.#isPerishable) this.review();
  }

  /** Then whoever waits sets it again: the one before may be gone. */
  get #isPerishable(): boolean {
    return this.#timer?.timer.perishes === true;
  }

  #isFirst(setting: Setting): boolean {
    return setting.face !== null && this.#set[setting.face].first === setting;
  }

  #unset(setting: Setting): void {
    if (setting.face === null) return;
    this.#set[setting.face].remove(setting);
    setting.face = null;
    this.#count(setting, -1);
  }

  #count({ isVital }: Setting, change: number): void {
    if (!isVital) return;
    this.#vital += change;
    if (this.#vital === 0) this.#timer?.timer.unref?.();
    else this.#timer?.timer.ref?.();
  }

  /** When the first one is due, on the monotonic clock. */
  #first(): number | null {
    const [log, monotonic] = [this.#set.log.first, this.#set.monotonic.first];
    const clock = this.#clock;
    const logAt = log === undefined ? Infinity : clock.monotonic() + clock.delayUntil(log.at);
    const at = Math.min(logAt, monotonic?.at ?? Infinity);
    return at === Infinity ? null : at;
  }

  #arm(at: number | null): void {
    // Reckoning rounds: what differs by less than a millisecond is the same.
    const isSame = at !== null && this.#timer !== null && Math.abs(this.#timer.at - at) < 1;
    if (isSame && !this.#isPerishable) return;
    this.#timer?.timer.cancel();
    this.#timer = null;
    if (at === null) return;
    const ms = Math.max(0, Math.ceil(at - this.#clock.monotonic()));
    const timer: Timer = this.#clock.setTimer(ms, () => this.#fire());
    if (this.#vital === 0) timer.unref?.();
    this.#timer = { at, timer };
  }

  #fire(): void {
    this.#timer = null;
    const now = this.#clock.monotonic();
    const isDue = {
      log: ({ at }: Setting) => this.#clock.delayUntil(at) <= 0,
      monotonic: ({ at }: Setting) => at <= now,
    };
    for (const face of ['log', 'monotonic'] as const) {
      const set = this.#set[face];
      for (let next = set.first; next !== undefined && isDue[face](next); next = set.first) {
        this.#unset(next);
        this.#ringing.add(next);
      }
    }
    try {
      this.#ring();
    } finally {
      this.review();
    }
  }

  /** Every one that is to ring, and then what the first one threw. */
  #ring(): void {
    const thrown: unknown[] = [];
    for (const setting of [...this.#ringing]) {
      try {
        if (this.#ringing.delete(setting)) setting.ring();
      } catch (error) {
        thrown.push(error);
      }
    }
    if (thrown.length > 0) throw thrown[0];
  }
}
