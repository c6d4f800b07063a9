/** Reading, appending and compacting, each inside of one transaction. */
import { FencepostError, quote } from '../errors.js';
import { corrupt } from './indexeddb-error.js';
import { type Head, packEntry, requireChunks, unpackEntry } from './indexeddb-schema.js';
import type { Transaction } from './indexeddb-transaction.js';
import type { Entry, News, Slot } from './journal.js';
import { oldestKept } from './retention.js';

/** Gives `next` the head, and what was stored after `after`. */
export function readNews(
  transaction: Transaction,
  after: Slot,
  next: (news: News, head: Head) => void,
): void {
  let head: Head | null = null;
  transaction.readHead((read) => {
    head = read;
  });
  // Both requests at once; the answers come in the order of asking.
  const asked = transaction.journal.getAll(IDBKeyRange.lowerBound(after, true));
  transaction.onResult(asked, (packed) => {
    if (head !== null) tell(transaction, { after, head, packed }, next);
  });
}

function tell(
  transaction: Transaction,
  { after, head, packed }: { after: Slot; head: Head; packed: unknown[] },
  next: (news: News, head: Head) => void,
): void {
  const { slot, floor, snapshot } = head;
  const tip = slot === 0 ? null : { slot, tag: head.tag.slice() };
  if (after >= slot) {
    next({ tip, entries: [] }, head);
    return;
  }
  const { database } = transaction;
  const expected = slot - Math.max(after, floor);
  if (packed.length !== expected) {
    throw corrupt(
      database,
      `expected ${expected} entries up to slot ${slot}, got ${packed.length}`,
    );
  }
  const entries = packed.map((value) => unpackEntry(value, database));
  if (after >= floor) {
    next({ tip, entries }, head);
    return;
  }
  if (snapshot === null) throw corrupt(database, 'entries are deleted, but there is no snapshot');
  readSnapshot(transaction, snapshot, (bytes) => {
    const since = entries.slice(snapshot.slot - floor);
    next({ tip, snapshot: { slot: snapshot.slot, bytes }, entries: since }, head);
  });
}

function readSnapshot(
  transaction: Transaction,
  { slot, chunks }: { slot: Slot; chunks: number },
  next: (bytes: Uint8Array) => void,
): void {
  const { snapshot, database } = transaction;
  transaction.onResult(snapshot.getAll(IDBKeyRange.bound([slot], [slot + 1])), (read) => {
    if (read.length !== chunks) {
      throw corrupt(database, `the snapshot has ${read.length} chunks, not ${chunks}`);
    }
    next(requireChunks(read, database));
  });
}

/** Stores the entry in the next slot. */
export function append(transaction: Transaction, head: Head, entry: Entry): void {
  const slot = head.slot + 1;
  transaction.journal.add(packEntry(entry), slot);
  transaction.writeHead({ ...head, slot, tag: entry.tag.slice() });
}

/** Unless there is one as new, stores the snapshot and deletes what is not needed any more. */
export function replaceSnapshot(
  transaction: Transaction,
  slot: Slot,
  chunks: readonly Uint8Array[],
): void {
  const { journal, snapshot, database } = transaction;
  transaction.readHead((head) => {
    if (slot <= (head.snapshot?.slot ?? 0)) return;
    requireReached(slot, head, database);
    measureKept(transaction, head, slot, (oldest) => {
      const floor = Math.max(head.floor, oldest - 1);
      transaction.writeHead({ ...head, floor, snapshot: { slot, chunks: chunks.length } });
      for (const [number, chunk] of chunks.entries()) snapshot.put(chunk, [slot, number]);
      snapshot.delete(IDBKeyRange.upperBound([slot], true));
      journal.delete(IDBKeyRange.upperBound(floor));
    });
  });
}

/** Walks back from the snapshot's slot over the entries that may stay. */
function measureKept(
  transaction: Transaction,
  { floor }: Head,
  slot: Slot,
  next: (oldest: Slot) => void,
): void {
  const bytes: number[] = [];
  const oldest = () => oldestKept(slot, slot - bytes.length + 1, (at) => bytes[slot - at] ?? 0);
  const range = IDBKeyRange.bound(floor, slot, true);
  transaction.onResult(transaction.journal.openCursor(range, 'prev'), (cursor) => {
    // One more than may stay shows that the bound is reached.
    const isEnough = oldest() > slot - bytes.length + 1;
    if (cursor === null || isEnough) {
      next(oldest());
      return;
    }
    bytes.push((cursor.value as Uint8Array).byteLength);
    cursor.continue();
  });
}

function requireReached(slot: Slot, head: Head, database: string): void {
  if (slot <= head.slot) return;
  throw new FencepostError(
    'LOG_REPLACED',
    `compact(slot): ${quote(database)} ends at slot ${head.slot}, before slot ${slot}`,
    { details: { argument: 'slot', database, stored: false } },
  );
}
