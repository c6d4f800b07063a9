/**
 * What a journal keeps, shared by all: entries, a snapshot, the tip. One call is one atomic step.
 * It survives every process, unless the storage is cleared.
 */
import { type Entry, FencepostError, type News, type Slot } from 'fencepost';

/** The newest entry, and which log it belongs to: clearing begins another one. */
export interface Base {
  readonly slot: Slot;
  readonly generation: number;
}

/** What the log shows to whoever watches the world. */
export interface LogWatcher {
  /** Called in the same step. */
  stored(entry: Uint8Array): void;
  compacted(slot: Slot, snapshot: Uint8Array): void;
  cleared(): void;
}

export class SharedLog {
  readonly #watcher: LogWatcher;
  /** Entries that stay readable behind a snapshot. */
  readonly #kept: number;
  #tip: { slot: Slot; tag: Uint8Array } | null = null;
  #snapshot: { slot: Slot; bytes: Uint8Array } | null = null;
  #entries: Uint8Array[] = [];
  #first: Slot = 1;
  #generation = 0;
  /** No room for anything. */
  isFull = false;
  readonly onNews = new Set<() => void>();

  constructor(watcher: LogWatcher, kept: number) {
    this.#watcher = watcher;
    this.#kept = kept;
  }

  get base(): Base {
    return { slot: this.#tip?.slot ?? 0, generation: this.#generation };
  }

  newsAfter(after: Slot): News {
    const tip = this.#tip && { slot: this.#tip.slot, tag: this.#tip.tag.slice() };
    const slot = tip?.slot ?? 0;
    if (after >= slot) return { tip, entries: [] };
    const behind = this.#snapshot;
    if (behind === null || (after > 0 && after + 1 >= this.#first)) {
      return { tip, entries: this.#entriesFrom(after + 1) };
    }
    const snapshot = { slot: behind.slot, parts: piecesOf(behind.bytes.slice()) };
    return { tip, snapshot, entries: this.#entriesFrom(snapshot.slot + 1) };
  }

  /** Whether the entry was stored: only behind `base`, which must be the newest. */
  append(base: Base, { bytes, tag }: Entry): boolean {
    const tip = this.base;
    if (tip.slot !== base.slot || tip.generation !== base.generation) return false;
    if (this.isFull) throw refusal('JOURNAL_FULL', 'no room is left');
    const kept = bytes.slice();
    this.#entries.push(kept);
    this.#tip = { slot: tip.slot + 1, tag: tag.slice() };
    this.#watcher.stored(kept);
    for (const tell of this.onNews) tell();
    return true;
  }

  /** Whether the entry of a slot is this one; undefined when it is compacted away. */
  holds(slot: Slot, bytes: Uint8Array): boolean | undefined {
    if (slot > this.base.slot) return false;
    const there = this.#entries[slot - this.#first];
    if (slot < this.#first || there === undefined) return undefined;
    return there.length === bytes.length && there.every((byte, at) => byte === bytes[at]);
  }

  compact(slot: Slot, snapshot: Uint8Array): void {
    if (slot <= (this.#snapshot?.slot ?? 0)) return;
    if (slot > this.base.slot) throw refusal('LOG_REPLACED', `there is no slot ${slot}`);
    this.#watcher.compacted(slot, snapshot);
    this.#snapshot = { slot, bytes: snapshot.slice() };
    const first = Math.max(this.#first, slot + 1 - this.#kept);
    this.#entries.splice(0, first - this.#first);
    this.#first = first;
  }

  /** Takes everything away, as a user or a browser may. */
  clear(): void {
    this.#generation += 1;
    this.#tip = null;
    this.#snapshot = null;
    this.#entries = [];
    this.#first = 1;
    this.#watcher.cleared();
  }

  #entriesFrom(slot: Slot): Uint8Array[] {
    return this.#entries.slice(slot - this.#first).map((bytes) => bytes.slice());
  }
}

/** Cut where no part of it ends. */
async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  const middle = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, middle);
  yield bytes.subarray(middle);
}

/** A journal's error that knows that nothing was stored. */
export function refusal(
  code: 'JOURNAL_FULL' | 'JOURNAL_UNAVAILABLE' | 'LOG_REPLACED',
  message: string,
): FencepostError {
  return new FencepostError(code, message, { details: { stored: false } });
}
