/**
 * Decides when the entries of a log are replaced by a snapshot: when they weigh more than the last
 * snapshot, and at least 1 MiB. So each byte is written about twice.
 *
 * Runs beside the commits. A compaction that fails is tried again later and fails nothing else.
 */
import type { Journal } from './journal/journal.js';
import type { Replica } from './replica.js';

const BYTES_MIN = 1 << 20;

export class Compactor {
  readonly #journal: Journal;
  readonly #replica: Replica;
  readonly #bytesMin: number;
  #running: Promise<void> | null = null;
  /** Bytes to wait for after a failure. */
  #penalty = 0;

  constructor(journal: Journal, replica: Replica, bytesMin = BYTES_MIN) {
    this.#journal = journal;
    this.#replica = replica;
    this.#bytesMin = bytesMin;
  }

  /** Starts a compaction when it is worth it. */
  consider(): void {
    const { entryBytes, snapshotBytes } = this.#replica;
    const threshold = Math.max(this.#bytesMin, snapshotBytes) + this.#penalty;
    if (this.#running === null && entryBytes > threshold) this.start();
  }

  /** Starts one now, unless one is under way. */
  start(): void {
    if (this.#running !== null) return;
    const before = this.#replica.entryBytes;
    this.#running = this.#compact(before).then(
      () => {
        this.#running = null;
        this.#penalty = 0;
      },
      () => {
        this.#running = null;
        this.#penalty = before + this.#bytesMin;
      },
    );
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #compact(before: number): Promise<void> {
    const { slot } = this.#replica;
    const bytes = this.#replica.use((engine) => engine.snapshot());
    await this.#journal.compact(slot, bytes);
    this.#replica.snapshotBytes = bytes.byteLength;
    this.#replica.entryBytes = Math.max(0, this.#replica.entryBytes - before);
  }
}
