/**
 * The time of the log: what a replica offers as `now`.
 *
 * It is the larger of the wall clock, and the time of the newest entry plus the replica's own
 * monotonic progress since. So it neither runs backwards nor stands still when the wall clock is
 * set back. While it is ahead of the wall clock it runs at nine tenths of real speed, until the
 * two meet.
 *
 * **Invariant**: safety never depends on it. A bad clock makes a claim end early or late, no more.
 */
import { invalid } from './arguments.js';
import type { RunIn } from './context.js';
import { FencepostError, shown } from './errors.js';
import { isEdgeWorker, monotonicNow } from './host.js';
import type { Clock } from './types.js';

/** 2200-01-01: a clock beyond is broken, and only the log's own progress counts. */
export const NOW_MAX = 7_258_118_400_000;
/** No timer of any runtime holds more; longer waits go in steps. */
export const TIMER_MAX = 2 ** 31 - 1;
/** Time is counted in tenths of a millisecond, so that nothing is lost to rounding. */
const TENTHS = 10;
const TENTHS_WHEN_AHEAD = 9;

/** A timer that can be stopped. */
export interface Timer {
  cancel(): void;
  /** Only of the runtime's own clock: this timer does not keep the process alive. */
  unref?(): void;
  /** Undoes `unref`. */
  ref?(): void;
  /** It ends with the request in which it was set, and tells nobody. */
  readonly perishes?: boolean;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicNow,
  setTimer(ms: number, fn: () => void): Timer {
    const timer: unknown = setTimeout(fn, ms);
    // In Node a timer is an object, elsewhere a number.
    const { ref, unref } = timer as { ref?(): unknown; unref?(): unknown };
    return {
      perishes: isEdgeWorker(),
      cancel: () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
      unref: () => void unref?.call(timer),
      ref: () => void ref?.call(timer),
    };
  },
};

/** @throws FencepostError `INVALID_ARGUMENT` for a clock that tells no time or sets no timer */
export function requireClock(clock: Clock): void {
  for (const name of ['now', 'monotonic'] as const) {
    const value: unknown = asked(`clock.${name}`, () => clock[name]());
    if (typeof value !== 'number' || Number.isNaN(value)) {
      throw invalid(`clock.${name}`, 'a function that answers a number', shown(value));
    }
  }
  asked('clock.setTimer', () => clock.setTimer(TIMER_MAX, () => undefined).cancel());
}

function asked<T>(argument: string, ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    const message = `${argument}: it threw when it was called`;
    throw new FencepostError('INVALID_ARGUMENT', message, { details: { argument }, cause });
  }
}

/** What a clock tells; `NaN` when it throws, which may not happen in the middle of a commit. */
function told(ask: () => number): number {
  try {
    return Number(ask());
  } catch {
    return Number.NaN;
  }
}

export class LogClock {
  readonly #clock: Clock;
  readonly #wallNow: () => number;
  readonly #run: RunIn;
  /** The log's time when the monotonic clock stood at `#anchor`. */
  #tenths = 0;
  #anchor: number;
  #monotonic = 0;
  /** The time of the newest entry that was seen. */
  #newest = 0;

  /**
   * `wallNow`: the clock of a shared journal, which is the authority. `run`: where timers belong,
   * whoever sets them.
   */
  constructor(clock: Clock, wallNow?: () => number, run: RunIn = (call) => call()) {
    this.#clock = clock;
    this.#run = run;
    this.#wallNow = wallNow ?? (() => clock.now());
    this.#anchor = this.monotonic();
  }

  /** What the machine, or the journal that several share, says; 0 when that makes no sense. */
  wall(): number {
    const now = Math.floor(told(this.#wallNow));
    return Number.isSafeInteger(now) && now <= NOW_MAX ? Math.max(0, now) : 0;
  }

  now(): number {
    return Math.floor(this.#advance());
  }

  /** One that tells no number any more stands still. */
  monotonic(): number {
    const now = told(() => this.#clock.monotonic());
    if (Number.isFinite(now)) this.#monotonic = now;
    return this.#monotonic;
  }

  /** The newest entry of the log has this time. One that is older than before: it was repaired. */
  observe(time: number): void {
    if (time === this.#newest) return;
    this.#advance();
    const tenths = time * TENTHS;
    this.#tenths = time < this.#newest ? tenths : Math.max(this.#tenths, tenths);
    this.#newest = time;
  }

  /** How long to wait, on a timer, until the log's time is `at`. */
  delayUntil(at: number): number {
    const now = this.#advance();
    const speed = now > this.wall() ? TENTHS_WHEN_AHEAD / TENTHS : 1;
    return Math.min(TIMER_MAX, Math.max(0, Math.ceil((at - Math.floor(now)) / speed)));
  }

  setTimer(ms: number, fn: () => void): Timer {
    const run = this.#run;
    return run(() => this.#clock.setTimer(Math.min(ms, TIMER_MAX), () => run(fn)));
  }

  /** A timer that lets the process end. */
  setIdleTimer(ms: number, fn: () => void): Timer {
    const timer: Timer = this.setTimer(ms, fn);
    timer.unref?.();
    return timer;
  }

  #advance(): number {
    const wall = this.wall();
    const monotonic = this.monotonic();
    const progress = Math.max(0, monotonic - this.#anchor);
    this.#anchor = monotonic;
    const full = this.#tenths + progress * TENTHS;
    const slowed = this.#tenths + progress * TENTHS_WHEN_AHEAD;
    const isAhead = full > wall * TENTHS;
    this.#tenths = Math.min(NOW_MAX * TENTHS, isAhead ? Math.max(wall * TENTHS, slowed) : full);
    return Math.max(wall, this.#tenths / TENTHS);
  }
}
