/** A tab of the chaos: a store on the common log that works, stalls, fails and starts again. */
import { FencepostError, type Journal, open, type Store, type Worker } from 'fencepost';
import type { VirtualClock } from '../../../pkg/dist/testing/clock.js';
import {
  type Fault,
  type FaultyJournal,
  faulty,
  type Operation,
} from '../../../pkg/dist/testing/faulty.js';
import type { Random } from '../journal/random.js';
import {
  type Book,
  type ChaosQueue,
  chaoticHandler,
  LEASE_MS,
  RUN_MS_MAX,
} from './chaos-handlers.js';
import { StallingClock } from './stalling-clock.js';

const FAULTS: readonly Fault[] = ['refuse', 'full', 'lose-request', 'lose-reply', 'outrun'];
const RETRY_MS = 500;

export interface TabParts {
  readonly name: string;
  readonly seed: number;
  readonly time: VirtualClock;
  readonly log: Journal;
  readonly random: Random;
  readonly book: Book;
  readonly concurrency: number;
}

export class ChaosTab {
  /** How many of a hundred commits fail. */
  faults = 0;
  readonly #parts: TabParts;
  readonly #clock: StallingClock;
  #journal!: FaultyJournal;
  #store!: Store;
  #worker!: Worker;
  #starts = 0;
  #isOpening = false;

  constructor(parts: TabParts) {
    this.#parts = parts;
    this.#clock = new StallingClock(parts.time);
  }

  get queue(): ChaosQueue {
    return this.#store.queue('work');
  }

  get running(): number {
    return this.#worker.running;
  }

  /** Whether it can be asked for something. */
  get isAwake(): boolean {
    return !(this.#clock.isStalled || this.#isOpening);
  }

  /** As in a process of its own: another store, another worker. */
  async open(): Promise<void> {
    const { seed, log } = this.#parts;
    this.#isOpening = true;
    this.#starts += 1;
    this.#journal = faulty(log, { choose: (operation) => this.#fault(operation) });
    this.#store = await open('chaos', {
      clock: this.#clock,
      journal: this.#journal,
      seed: BigInt(seed + this.#starts),
    });
    this.#work();
    this.#isOpening = false;
  }

  /** Another worker in place of this one, which may take a while to end. */
  restartWorker(drain: number): void {
    void this.#worker.stop({ drain });
    this.#starts += 1;
    this.#work();
  }

  async reopen(): Promise<void> {
    this.#isOpening = true;
    await this.#store.close();
    await this.open();
  }

  /** Its timers stand still, and nothing that it sends arrives. */
  async stall(ms: number): Promise<void> {
    this.#clock.stall();
    await new Promise<void>((resolve) => {
      this.#parts.time.setTimer(ms, resolve);
    });
    this.#clock.wake();
    this.#journal.release();
  }

  /** Asks until the journal lets it; `undefined` when the tab was closed meanwhile. */
  async insist<T>(ask: (queue: ChaosQueue) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask(this.queue);
      } catch (error) {
        const isPassing = error instanceof FencepostError && PASSING.has(error.kind);
        if (!isPassing) throw error;
      }
      await this.#clock.sleep(RETRY_MS);
    }
  }

  async idle(): Promise<void> {
    await this.#worker.idle();
  }

  async close(): Promise<void> {
    await this.#worker.stop();
    await this.#store.close();
  }

  #work(): void {
    const { name, seed, book, time, concurrency } = this.#parts;
    const handler = chaoticHandler({ book, seed, time, clock: this.#clock });
    this.#worker = this.queue.work(handler, {
      owner: `${name}, start ${this.#starts}`,
      concurrency,
      lease: LEASE_MS,
      maxRun: RUN_MS_MAX,
    });
  }

  #fault(operation: Operation): Fault | null {
    if (this.#clock.isStalled) return 'hold-request';
    const { random } = this.#parts;
    const isFaulty = operation === 'commit' && random.below(100) < this.faults;
    return isFaulty ? (FAULTS[random.below(FAULTS.length)] ?? null) : null;
  }
}

/** `closed`: the tab was closed and is opened again. */
const PASSING: ReadonlySet<string> = new Set(['unavailable', 'closed']);
