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
 * **Cost**: setting a bell is O(1); silencing the first one is O(bells).
 */
import type { LogClock, Timer } from './clock.js';

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

/** When, on which clock; null while it is not set. */
type Due = { readonly clock: 'log' | 'monotonic'; readonly at: number } | null;

interface Setting {
  due: Due;
  readonly isVital: boolean;
  readonly ring: () => void;
}

export class Alarm {
  readonly #clock: LogClock;
  readonly #set = new Set<Setting>();
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
    const setting: Setting = { due: null, isVital: life === 'keeps the process alive', ring };
    return {
      ringAt: (at) => this.#change(setting, { clock: 'log', at }),
      ringAfter: (ms) =>
        this.#change(setting, { clock: 'monotonic', at: this.#clock.monotonic() + ms }),
      silence: () => this.#change(setting, null),
    };
  }

  /** Looks again: the log's time may have moved. */
  review(): void {
    this.#arm(this.#first());
  }

  #change(setting: Setting, due: Due): void {
    const before = setting.due;
    this.#ringing.delete(setting);
    this.#unset(setting);
    if (due !== null) {
      setting.due = due;
      this.#set.add(setting);
      this.#count(setting, 1);
      const at = this.#reckon(due);
      if (this.#timer === null || at < this.#timer.at) {
        this.#arm(at);
        return;
      }
    }
    const armed = this.#timer?.at ?? Infinity;
    const wasFirst = before !== null && this.#reckon(before) < armed + 1;
    if (wasFirst || this.#set.size === 0) this.review();
  }

  #unset(setting: Setting): void {
    if (!this.#set.delete(setting)) return;
    setting.due = null;
    this.#count(setting, -1);
  }

  #count({ isVital }: Setting, change: number): void {
    if (!isVital) return;
    this.#vital += change;
    if (this.#vital === 0) this.#timer?.timer.unref?.();
    else this.#timer?.timer.ref?.();
  }

  /** When it is due, on the monotonic clock. */
  #reckon(due: NonNullable<Due>): number {
    if (due.clock === 'monotonic') return due.at;
    return this.#clock.monotonic() + this.#clock.delayUntil(due.at);
  }

  #first(): number | null {
    let first: number | null = null;
    for (const { due } of this.#set) {
      if (due === null) continue;
      const at = this.#reckon(due);
      if (first === null || at < first) first = at;
    }
    return first;
  }

  #arm(at: number | null): void {
    // Reckoning rounds: what differs by less than a millisecond is the same.
    if (at !== null && this.#timer !== null && Math.abs(this.#timer.at - at) < 1) return;
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
    for (const setting of [...this.#set]) {
      const at = setting.due === null ? Infinity : this.#reckon(setting.due);
      if (at > this.#clock.monotonic()) continue;
      this.#unset(setting);
      this.#ringing.add(setting);
    }
    for (const setting of [...this.#ringing]) {
      if (this.#ringing.delete(setting)) setting.ring();
    }
    this.review();
  }
}
