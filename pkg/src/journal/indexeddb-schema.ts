/**
 * What the database holds. Its version is 1 for ever, so that no tab ever waits for another one to
 * let an upgrade happen; what changes is the format in the head.
 *
 * | object store | key | value |
 * |---|---|---|
 * | `meta` | `head` | one `Head` |
 * | `journal` | slot | length of the tag (1 byte), tag, entry |
 * | `snapshot` | [id, number of the chunk] | up to 1 MiB of a snapshot; the head says of which |
 */
import { FencepostError, quote } from '../errors.js';
import { isBytes } from '../realm.js';
import { corrupt } from './indexeddb-error.js';
import type { Entry, Slot } from './journal.js';

export const DATABASE_VERSION = 1;
export const META = 'meta';
export const JOURNAL = 'journal';
export const SNAPSHOT = 'snapshot';
export const HEAD = 'head';

/** What this build reads. */
const FORMAT = 2;
/** Of a database without a snapshot, or with one whose chunks are found by its slot. */
const FORMAT_FIRST = 1;
/** Of one whose chunks are found by an id. */
export const FORMAT_SNAPSHOT_IDS = 2;

/** The one record that every transaction reads. */
export interface Head {
  /** Of this table. */
  format: number;
  /** The oldest format that a program must know to read and to write this one. */
  reader: number;
  /** The name of the store. */
  store: string;
  /** Of the newest entry ever stored; 0 in an empty journal. */
  slot: Slot;
  /** Of that entry. */
  tag: Uint8Array<ArrayBuffer>;
  /** Entries up to this slot are deleted. */
  floor: Slot;
  snapshot: StoredSnapshot | null;
}

export interface StoredSnapshot {
  slot: Slot;
  chunks: number;
  /** What its chunks are found by; missing in the first format: by the slot. */
  id?: string;
}

/** The keys of its chunks. */
export function chunkKey({ id, slot }: StoredSnapshot, number?: number): IDBValidKey[] {
  const key = id ?? slot;
  return number === undefined ? [key] : [key, number];
}

/** Runs inside of the upgrade transaction: there never is a database without its head. */
export function createSchema(database: IDBDatabase, store: string): void {
  database.createObjectStore(JOURNAL);
  database.createObjectStore(SNAPSHOT);
  const head: Head = {
    format: FORMAT_FIRST,
    reader: FORMAT_FIRST,
    store,
    slot: 0,
    tag: new Uint8Array(),
    floor: 0,
    snapshot: null,
  };
  database.createObjectStore(META).put(head, HEAD);
}

/** @throws FencepostError `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`, `INVALID_ARGUMENT` */
export function requireHead(value: unknown, database: string, store: string): Head {
  const head = value as Partial<Head> | undefined;
  if (typeof head?.reader !== 'number') throw corrupt(database, 'the head is missing');
  if (head.reader > FORMAT) {
    const what = `needs a program that knows format ${head.reader}; this one knows ${FORMAT}`;
    throw new FencepostError('FORMAT_TOO_NEW', `the database ${quote(database)} ${what}`, {
      details: { database, needs: head.reader, knows: FORMAT, stored: false },
    });
  }
  if (!isWhole(head)) throw corrupt(database, 'the head is damaged');
  if (head.store === store) return head;
  const what = `${quote(database)} holds the store ${quote(head.store)}, not ${quote(store)}`;
  throw new FencepostError('INVALID_ARGUMENT', `open(name): the database ${what}`, {
    details: { argument: 'name', holds: head.store, database, stored: false },
  });
}

function isWhole(head: Partial<Head>): head is Head {
  const { store, slot, tag, floor, snapshot } = head;
  const isSnapshot =
    snapshot === null || (isSlot(snapshot?.slot) && isSlot(snapshot?.chunks) && isSlot(floor));
  return typeof store === 'string' && isSlot(slot) && isBytes(tag) && isSnapshot;
}

function isSlot(value: unknown): value is Slot {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * One value of its own: a view would take the whole memory behind it along.
 */
export function packEntry({ bytes, tag }: Entry): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(1 + tag.byteLength + bytes.byteLength);
  packed[0] = tag.byteLength;
  packed.set(tag, 1);
  packed.set(bytes, 1 + tag.byteLength);
  return packed;
}

export function unpackEntry(packed: unknown, database: string): Uint8Array {
  if (isBytes(packed)) {
    const start = 1 + (packed[0] ?? 0);
    if (packed.byteLength >= start) return packed.subarray(start);
  }
  throw corrupt(database, 'an entry is no packed value');
}
