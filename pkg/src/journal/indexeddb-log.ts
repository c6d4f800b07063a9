/** Reading, appending and compacting, each inside of one transaction. */
import { FencepostError, quote } from '../errors.js';
import { isBytes } from '../realm.js';
import { corrupt } from './indexeddb-error.js';
import {
  chunkKey,
  FORMAT_SNAPSHOT_IDS,
  type Head,
  packEntry,
  type StoredSnapshot,
  unpackEntry,
} from './indexeddb-schema.js';
import type { Transaction } from './indexeddb-transaction.js';
import type { Entry, News, Slot } from './journal.js';
import { oldestKept } from './retention.js';

/** Gives `next` the head, and what was stored after `after`. */
export function readNews(
  transaction: Transaction,
  after: Slot,
  partsOf: (snapshot: StoredSnapshot) => AsyncIterable<Uint8Array>,
  next: (news: News, head: Head) => void,
): void {
  let head: Head | null = null;
  transaction.readHead((read) => {
    head = read;
  });
  // Both requests at once; the answers come in the order of asking.
  const asked = transaction.journal.getAll(IDBKeyRange.lowerBound(after, true));
  transaction.onResult(asked, (packed) => {
    if (head !== null) tell(transaction, { after, head, packed, partsOf }, next);
  });
}

interface Read {
  after: Slot;
  head: Head;
  packed: unknown[];
  partsOf: (snapshot: StoredSnapshot) => AsyncIterable<Uint8Array>;
}

function tell(
  { database }: Transaction,
  { after, head, packed, partsOf }: Read,
  next: (news: News, head: Head) => void,
): void {
  const { slot, floor, snapshot } = head;
  const tip = slot === 0 ? null : { slot, tag: head.tag.slice() };
  if (after >= slot) {
    next({ tip, entries: [] }, head);
    return;
  }
  const expected = slot - Math.max(after, floor);
  if (packed.length !== expected) {
    throw corrupt(
      database,
      `expected ${expected} entries up to slot ${slot}, got ${packed.length}`,
    );
  }
  const entries = packed.map((value) => unpackEntry(value, database));
  if (after >= floor && (after > 0 || snapshot === null)) {
    next({ tip, entries }, head);
    return;
  }
  if (snapshot === null) throw corrupt(database, 'entries are deleted, but there is no snapshot');
  const since = entries.slice(snapshot.slot - Math.max(after, floor));
  next({ tip, snapshot: { slot: snapshot.slot, parts: partsOf(snapshot) }, entries: since }, head);
}

/** Gives `next` a chunk; null when the snapshot was replaced. */
export function readChunk(
  transaction: Transaction,
  of: StoredSnapshot,
  number: number,
  next: (chunk: Uint8Array | null) => void,
): void {
  const { snapshot, database } = transaction;
  transaction.readHead((head) => {
    if (head.snapshot === null || !isSame(head.snapshot, of)) {
      next(null);
      return;
    }
    const asked = snapshot.get(chunkKey(of, number)) as IDBRequest<unknown>;
    transaction.onResult(asked, (chunk) => {
      if (!isBytes(chunk)) {
        const what = chunk === undefined ? 'is missing' : 'is no bytes';
        throw corrupt(database, `chunk ${number} of ${of.chunks} of the snapshot ${what}`);
      }
      next(chunk);
    });
  });
}

function isSame(one: StoredSnapshot, other: StoredSnapshot): boolean {
  return one.slot === other.slot && one.id === other.id;
}

/** Stores the entry in the next slot. */
export function append(transaction: Transaction, head: Head, entry: Entry): void {
  const slot = head.slot + 1;
  transaction.journal.add(packEntry(entry), slot);
  transaction.writeHead({ ...head, slot, tag: entry.tag.slice() });
}

/** Deletes the chunks of every snapshot but the one that counts, if `isNeeded`. */
export function sweepSnapshots(transaction: Transaction, isNeeded: (head: Head) => boolean): void {
  const { snapshot } = transaction;
  transaction.readHead((head) => {
    if (!isNeeded(head)) return;
    if (head.snapshot === null) snapshot.clear();
    else deleteOthers(transaction, head.snapshot);
  });
}

function deleteOthers({ snapshot }: Transaction, kept: StoredSnapshot): void {
  const key = chunkKey(kept);
  snapshot.delete(IDBKeyRange.upperBound(key, true));
  snapshot.delete(IDBKeyRange.lowerBound([...key, []], true));
}

/** Whether a snapshot at `slot` is newer than the one there is. */
export function isNewer(slot: Slot, head: Head, database: string): boolean {
  if (slot <= (head.snapshot?.slot ?? 0)) return false;
  requireReached(slot, head, database);
  return true;
}

/**
 * Unless there is one as new, makes what was written the snapshot, and deletes what is not needed
 * any more: in one step.
 */
export function replaceSnapshot(transaction: Transaction, written: StoredSnapshot): void {
  const { journal, snapshot, database } = transaction;
  transaction.readHead((head) => {
    if (!isNewer(written.slot, head, database)) return;
    const range = IDBKeyRange.bound(chunkKey(written), [...chunkKey(written), []]);
    transaction.onResult(snapshot.count(range), (count) => {
      if (count !== written.chunks) throw outrun(database);
      measureKept(transaction, head, written.slot, (oldest) => {
        const floor = Math.max(head.floor, oldest - 1);
        const format = FORMAT_SNAPSHOT_IDS;
        transaction.writeHead({ ...head, format, reader: format, floor, snapshot: written });
        deleteOthers(transaction, written);
        journal.delete(IDBKeyRange.upperBound(floor));
      });
    });
  });
}

/** Another tab began a snapshot later, and took this one for something left over. */
function outrun(database: string): FencepostError {
  const message = `compact(slot): another snapshot of ${quote(database)} was begun meanwhile`;
  return new FencepostError('JOURNAL_UNAVAILABLE', message, {
    details: { database, stored: false },
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
