/**
 * A clock that stands still until it is told to go: time as a column of a script, not a sleep.
 *
 * ```ts
 * const clock = virtualClock()
 * const store = await open('test', { journal: memory(), clock })
 * await queue.enqueue('later', { delay: 5_000 })
 * await clock.advance(5_000)
 * ```
 */
import { requireWhole } from '../arguments.js';
import { nextTurn } from '../turn.js';
import type { Clock } from '../types.js';

export interface VirtualClock extends Clock {
  /** Lets time pass, up to every timer on the way, and waits after each for what it set going. */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass while no timer fires, as in a frozen tab; what is due fires late, in the next
   * `advance`.
   */
  freeze(ms: number): Promise<void>;
  /** Sets the wall clock. The monotonic clock and the timers do not notice. */
  setWall(now: number): void;
  /** Lets everything settle that needs no time. */
  settle(): Promise<void>;
  /** How many timers are set. */
  readonly timers: number;
  /** How many timers have fired. */
  readonly firings: number;
}

/** 2025-01-01. */
const START = 1_735_689_600_000;
/** Turns that a chain of journal calls may take; a turn without work is cheap. */
const TURNS = 20;

/**
 * `start`: what the wall clock shows first, in milliseconds since the Unix epoch. The monotonic
 * clock begins at 0.
 *
 * @throws FencepostError `INVALID_ARGUMENT` for a start that is no whole number from 0 on
 */
export function virtualClock(start: number = START): VirtualClock {
  return new Virtual(requireWhole('start', start, 0));
}

interface VirtualTimer {
  readonly at: number;
  readonly fn: () => void;
}

class Virtual implements VirtualClock {
  #monotonic = 0;
  #wallOffset: number;
  #firings = 0;
  readonly #timers = new Set<VirtualTimer>();

  constructor(start: number) {
    this.#wallOffset = start;
  }

  now(): number {
    return this.#monotonic + this.#wallOffset;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimer(ms: number, fn: () => void): { cancel(): void } {
    const timer = { at: this.#monotonic + Math.max(0, ms), fn };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  get firings(): number {
    return this.#firings;
  }

  async freeze(ms: number): Promise<void> {
    await this.settle();
    this.#monotonic += ms;
  }

  setWall(now: number): void {
    this.#wallOffset = now - this.#monotonic;
  }

  async advance(ms: number): Promise<void> {
    await this.settle();
    const end = this.#monotonic + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#monotonic = Math.max(this.#monotonic, next.at);
      this.#firings += 1;
      next.fn();
      await this.settle();
    }
    // What was set going may have let time pass as well.
    this.#monotonic = Math.max(this.#monotonic, end);
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) {
      await nextTurn();
    }
  }

  #next(end: number): VirtualTimer | undefined {
    let next: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}
