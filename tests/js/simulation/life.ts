/**
 * One process or tab, from its start to its end: the machine beneath a store. It may freeze, its
 * wall clock may jump, and it may end between any two events.
 *
 * **Invariant**: after its end nothing runs on it, and whoever waited for it waits for ever.
 */
import type { Clock } from 'fencepost';
import type { Planned, Scheduler } from './scheduler.js';

/** 2025-01-01. */
export const WORLD_BEGAN = 1_735_689_600_000;

export class Life {
  readonly name: string;
  readonly #scheduler: Scheduler;
  readonly #timers = new Set<Planned>();
  /** What came while it was frozen. */
  #late: (() => void)[] = [];
  #isFrozen = false;
  #isOver = false;
  /** How far its wall clock is off. */
  wallOffset: number;

  constructor(name: string, scheduler: Scheduler, wallOffset: number) {
    this.name = name;
    this.#scheduler = scheduler;
    this.wallOffset = wallOffset;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Runs something on it, unless it is over by then; later when it is frozen. */
  later(ms: number, run: () => void): Planned {
    let isCancelled = false;
    const arrive = () => {
      if (isCancelled || this.#isOver) return;
      if (this.#isFrozen) this.#late.push(arrive);
      else run();
    };
    const planned = this.#scheduler.after(ms, arrive);
    return {
      cancel: () => {
        isCancelled = true;
        planned.cancel();
      },
    };
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** Everything that was late comes at once. */
  thaw(): void {
    this.#isFrozen = false;
    const late = this.#late;
    this.#late = [];
    for (const arrive of late) this.#scheduler.after(0, arrive);
  }

  end(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  readonly clock: Clock = {
    now: () => WORLD_BEGAN + this.#scheduler.now + this.wallOffset,
    monotonic: () => this.#scheduler.now,
    setTimer: (ms, fire) => {
      const timer = this.later(ms, () => {
        this.#timers.delete(timer);
        fire();
      });
      this.#timers.add(timer);
      return {
        cancel: () => {
          this.#timers.delete(timer);
          timer.cancel();
        },
      };
    },
  };
}
