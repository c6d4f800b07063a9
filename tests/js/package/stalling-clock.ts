/** One tab's view of a virtual clock: its timers stand still while the tab does. */
import type { Clock } from 'fencepost';
import type { VirtualClock } from '../../../pkg/dist/testing/clock.js';

export class StallingClock implements Clock {
  readonly #clock: VirtualClock;
  #isStalled = false;
  /** What was due meanwhile, in order. */
  #late = new Set<() => void>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(ms: number, fn: () => void): { cancel(): void } {
    const timer = this.#clock.setTimer(ms, () => {
      if (this.#isStalled) this.#late.add(fire);
      else fn();
    });
    const fire = () => fn();
    return {
      cancel: () => {
        timer.cancel();
        this.#late.delete(fire);
      },
    };
  }

  stall(): void {
    this.#isStalled = true;
  }

  wake(): void {
    this.#isStalled = false;
    for (const fire of this.#late) {
      this.#late.delete(fire);
      fire();
    }
  }

  /** Until the time is over or the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const timer = ms === Infinity ? null : this.setTimer(ms, resolve);
      signal?.addEventListener('abort', () => {
        timer?.cancel();
        resolve();
      });
    });
  }
}
