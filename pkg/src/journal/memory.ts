/**
 * The journal that lives in a variable: for tests, and for stores that need not outlive the page.
 *
 * **Invariant**: a commit reads, decides and appends in one synchronous step, and every byte that
 * comes in or goes out is copied.
 *
 * **Cost**: all entries since the last snapshot, and the snapshot, in memory.
 */
import { FencepostError, quote } from '../errors.js';
import type { Entry, Journal, News, Slot, SnapshotParts } from './journal.js';
import { oldestKept } from './retention.js';

/**
 * A journal in memory. It keeps what it holds as long as the object lives, and several stores of
 * one name may open it at the same time, each of which closes it once: they are replicas of one
 * log.
 *
 * ```ts
 * const store = await open('my-app', { journal: memory() })
 * ```
 */
export function memory(): Journal {
  return new MemoryJournal();
}

async function* copiesOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  for (const part of parts) yield part.slice();
}

class MemoryJournal implements Journal {
  #name: string | null = null;
  #openings = 0;
  #tip: { slot: Slot; tag: Uint8Array } | null = null;
  #snapshot: { slot: Slot; parts: readonly Uint8Array[] } | null = null;
  /** The entries up to the tip without a gap; the first one is in slot `#first`. */
  #entries: Uint8Array[] = [];
  #first: Slot = 1;
  readonly #watchers = new Set<{ onNews: () => void }>();

  async open(name: string): Promise<News> {
    if (this.#name !== null && this.#name !== name) {
      throw new FencepostError(
        'INVALID_ARGUMENT',
        `open(name): this memory journal holds the store ${quote(this.#name)}, not ${quote(name)}`,
        { details: { argument: 'name', holds: this.#name, stored: false } },
      );
    }
    this.#name = name;
    this.#openings += 1;
    return this.#newsAfter(0);
  }

  async commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    this.#requireOpen();
    // The trap: `decide` may itself call `commit`. Starting a turn later keeps the two apart.
    await null;
    const entry = decide(this.#newsAfter(after));
    if (entry === null) return;
    const tag = entry.tag.slice();
    this.#entries.push(entry.bytes.slice());
    this.#tip = { slot: this.#tipSlot() + 1, tag };
    for (const watcher of this.#watchers) this.#tell(watcher);
  }

  async compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    this.#requireOpen();
    if (!this.#isNewer(slot)) return;
    this.#requireReached(slot);
    const copies: Uint8Array[] = [];
    for await (const part of parts) copies.push(part.slice());
    // Another one may have come to its end meanwhile.
    if (!this.#isNewer(slot)) return;
    this.#snapshot = { slot, parts: copies };
    const oldest = oldestKept(slot, this.#first, (kept) => this.#entryAt(kept).byteLength);
    this.#entries.splice(0, oldest - this.#first);
    this.#first = oldest;
  }

  #isNewer(slot: Slot): boolean {
    return slot > (this.#snapshot?.slot ?? 0);
  }

  #requireReached(slot: Slot): void {
    if (slot > this.#tipSlot()) {
      throw new FencepostError(
        'LOG_REPLACED',
        `compact(slot): this journal ends at slot ${this.#tipSlot()}, before slot ${slot}`,
        { details: { argument: 'slot', stored: false } },
      );
    }
  }

  watch(onNews: () => void): () => void {
    const watcher = { onNews };
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  async close(): Promise<void> {
    // Behind the turns of the commits that were accepted.
    await null;
    this.#openings = Math.max(0, this.#openings - 1);
  }

  #newsAfter(after: Slot): News {
    const tip = this.#tip && { slot: this.#tip.slot, tag: this.#tip.tag.slice() };
    if (after >= this.#tipSlot()) return { tip, entries: [] };
    const snapshot = this.#snapshot;
    if (after + 1 >= this.#first && (after > 0 || snapshot === null)) {
      return { tip, entries: this.#entriesFrom(after + 1) };
    }
    if (snapshot === null) throw new Error('entries are only ever dropped behind a snapshot');
    return {
      tip,
      snapshot: { slot: snapshot.slot, parts: copiesOf(snapshot.parts) },
      entries: this.#entriesFrom(snapshot.slot + 1),
    };
  }

  #entriesFrom(slot: Slot): Uint8Array[] {
    return this.#entries.slice(slot - this.#first).map((bytes) => bytes.slice());
  }

  #entryAt(slot: Slot): Uint8Array {
    const bytes = this.#entries[slot - this.#first];
    if (bytes === undefined) throw new Error(`slot ${slot} is between the first and the tip`);
    return bytes;
  }

  #tipSlot(): Slot {
    return this.#tip?.slot ?? 0;
  }

  #tell(watcher: { onNews: () => void }): void {
    queueMicrotask(() => {
      if (this.#watchers.has(watcher)) watcher.onNews();
    });
  }

  #requireOpen(): void {
    if (this.#openings === 0) {
      throw new FencepostError('STORE_CLOSED', 'the memory journal is not open', {
        details: { stored: false },
      });
    }
  }
}
