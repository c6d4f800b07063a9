/**
 * Decides when the entries of a log are replaced by a snapshot: when they weigh more than the last
 * snapshot, and at least 1 MiB. So each byte is written about twice.
 *
 * Of several replicas the one whose entry makes them so heavy does it. The others leave it to that
 * one and count anew; should it fail, they weigh twice as much before another one does.
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

  /** An entry of this replica was stored: starts a compaction when it is worth it. */
  consider(): void {
    if (this.#isWorthIt()) this.start();
  }

  /** Entries of other replicas were merged: leaves the compaction to them. */
  leave(): void {
    if (this.#isWorthIt()) this.#replica.entryBytes = 0;
  }

  #isWorthIt(): boolean {
    const { entryBytes, snapshotBytes } = this.#replica;
    const threshold = Math.max(this.#bytesMin, snapshotBytes) + this.#penalty;
    return this.#running === null && entryBytes > threshold;
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
    const replica = this.#replica;
    let bytes = 0;
    async function* counted(parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) {
        bytes += part.byteLength;
        yield part;
      }
    }
    await replica.copies.make(
      (look) => replica.use(look),
      (slot, parts) => this.#journal.compact(slot, counted(parts)),
    );
    // A newer snapshot was there already: this one was not read.
    if (bytes > 0) replica.snapshotBytes = bytes;
    replica.entryBytes = Math.max(0, replica.entryBytes - before);
  }
}
