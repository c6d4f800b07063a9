/**
 * What a Durable Object's storage holds, read and written inside of its transactions.
 *
 * | table | row |
 * |---|---|
 * | `fencepost_head` | one: format, store, newest slot and its tag, floor, slot of the snapshot |
 * | `fencepost_journal` | up to 1 MiB of the entry in `slot`; the storage refuses values of 2 MB |
 * | `fencepost_snapshot` | up to 1 MiB of the snapshot at `slot` |
 *
 * **Invariant**: a statement binds numbers, texts and bytes; none is put together from them.
 */
import { FencepostError, quote } from '../errors.js';
import { isBuffer, isBytes } from '../realm.js';
import { cutIntoChunks, joinChunks } from './chunks.js';
import type { DurableObjectStorage } from './durable-object.js';
import type { Entry, News, Slot } from './journal.js';
import { oldestKept } from './retention.js';

const FORMAT = 1;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS fencepost_head (one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL, reader INTEGER NOT NULL, store TEXT NOT NULL, slot INTEGER NOT NULL,
    tag BLOB NOT NULL, floor INTEGER NOT NULL, snapshot INTEGER NOT NULL) STRICT`,
  `CREATE TABLE IF NOT EXISTS fencepost_journal (slot INTEGER NOT NULL, chunk INTEGER NOT NULL,
    bytes BLOB NOT NULL, PRIMARY KEY (slot, chunk)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS fencepost_snapshot (slot INTEGER NOT NULL, chunk INTEGER NOT NULL,
    bytes BLOB NOT NULL, PRIMARY KEY (slot, chunk)) STRICT, WITHOUT ROWID`,
];

/** The one row that every transaction reads. */
interface Head {
  readonly store: string;
  /** Of the newest entry ever stored; 0 in an empty journal. */
  readonly slot: Slot;
  readonly tag: Uint8Array;
  /** Entries up to this slot are deleted. */
  readonly floor: Slot;
  /** The slot of the snapshot; 0 while there is none. */
  readonly snapshot: Slot;
}

type Sql = DurableObjectStorage['sql'];

/** Makes the tables, unless they are there. */
export function prepare(sql: Sql, store: string): void {
  for (const statement of SCHEMA) sql.exec(statement);
  sql.exec(
    `INSERT INTO fencepost_head VALUES (1, ?, ?, ?, 0, x'', 0, 0) ON CONFLICT DO NOTHING`,
    FORMAT,
    FORMAT,
    store,
  );
  const { store: holds } = readHead(sql);
  if (holds === store) return;
  const what = `the object holds the store ${quote(holds)}, not ${quote(store)}`;
  throw new FencepostError('INVALID_ARGUMENT', `open(name): ${what}`, {
    details: { argument: 'name', holds, stored: false },
  });
}

export function readNews(
  sql: Sql,
  after: Slot,
  partsOf: (snapshot: Slot) => AsyncIterable<Uint8Array>,
): News {
  const { slot, tag, floor, snapshot } = readHead(sql);
  const tip = slot === 0 ? null : { slot, tag };
  if (after >= slot) return { tip, entries: [] };
  if (after >= floor && (after > 0 || snapshot === 0)) {
    return { tip, entries: readEntries(sql, after, slot) };
  }
  if (snapshot === 0) throw corrupt('entries are deleted, but there is no snapshot');
  const parts = partsOf(snapshot);
  return { tip, snapshot: { slot: snapshot, parts }, entries: readEntries(sql, snapshot, slot) };
}

/** A chunk of the snapshot at a slot; null behind the last one. */
export function readChunk(sql: Sql, slot: Slot, number: number): Uint8Array | 'replaced' | null {
  if (readHead(sql).snapshot !== slot) return 'replaced';
  const found = 'SELECT bytes FROM fencepost_snapshot WHERE slot = ? AND chunk = ?';
  const [row] = sql.exec(found, slot, number).toArray();
  if (row !== undefined) return bytesOf(row.bytes);
  if (number === 0) throw corrupt(`the snapshot at slot ${slot} is missing`);
  return null;
}

/** Stores the entry in the next slot. */
export function append(sql: Sql, entry: Entry): void {
  const slot = readHead(sql).slot + 1;
  for (const [chunk, bytes] of cutIntoChunks(entry.bytes).entries()) {
    sql.exec('INSERT INTO fencepost_journal VALUES (?, ?, ?)', slot, chunk, bytes);
  }
  sql.exec('UPDATE fencepost_head SET slot = ?, tag = ?', slot, entry.tag.slice());
}

/** Deletes what an interrupted one left. False when there is a snapshot as new. */
export function beginSnapshot(sql: Sql, slot: Slot): boolean {
  const head = readHead(sql);
  if (slot <= head.snapshot) return false;
  if (slot > head.slot) {
    const message = `compact(slot): the journal ends at slot ${head.slot}, before slot ${slot}`;
    throw new FencepostError('LOG_REPLACED', message, {
      details: { argument: 'slot', stored: false },
    });
  }
  sql.exec('DELETE FROM fencepost_snapshot WHERE slot <> ?', head.snapshot);
  return true;
}

export function putChunk(sql: Sql, slot: Slot, number: number, bytes: Uint8Array): void {
  sql.exec('INSERT INTO fencepost_snapshot VALUES (?, ?, ?)', slot, number, bytes);
}

/** All chunks are there: makes it the snapshot, and deletes what is not needed any more. */
export function replaceSnapshot(sql: Sql, slot: Slot): void {
  const head = readHead(sql);
  const floor = Math.max(head.floor, oldestKept(slot, head.floor + 1, sizesOf(sql)) - 1);
  sql.exec('DELETE FROM fencepost_snapshot WHERE slot < ?', slot);
  sql.exec('UPDATE fencepost_head SET floor = ?, snapshot = ?', floor, slot);
  sql.exec('DELETE FROM fencepost_journal WHERE slot <= ?', floor);
}

function sizesOf(sql: Sql): (slot: Slot) => number {
  return (slot) => {
    const sized = 'SELECT sum(length(bytes)) AS size FROM fencepost_journal WHERE slot = ?';
    return Number(sql.exec(sized, slot).toArray()[0]?.size ?? 0);
  };
}

function readHead(sql: Sql): Head {
  const [row] = sql.exec('SELECT * FROM fencepost_head').toArray();
  if (row === undefined) throw corrupt('the head is missing');
  const needs = Number(row.reader);
  if (!(needs <= FORMAT)) {
    const what = `a program that knows format ${needs}; this one knows ${FORMAT}`;
    throw new FencepostError('FORMAT_TOO_NEW', `the journal of the object needs ${what}`, {
      details: { needs, knows: FORMAT, stored: false },
    });
  }
  const { store, slot, floor, snapshot } = row as Record<string, unknown> & Head;
  return { store, slot, floor, snapshot, tag: bytesOf(row.tag) };
}

/** Those in the slots behind `after` up to `last`, of which none may be missing. */
function readEntries(sql: Sql, after: Slot, last: Slot): Uint8Array[] {
  const chunksOf = new Map<Slot, Uint8Array[]>();
  const found = 'SELECT slot, bytes FROM fencepost_journal WHERE slot > ? ORDER BY slot, chunk';
  for (const { slot, bytes } of sql.exec(found, after).toArray()) {
    const chunks = chunksOf.get(slot as Slot) ?? [];
    chunks.push(bytesOf(bytes));
    chunksOf.set(slot as Slot, chunks);
  }
  if (chunksOf.size !== last - after) {
    throw corrupt(`expected ${last - after} entries up to slot ${last}, got ${chunksOf.size}`);
  }
  return [...chunksOf.values()].map(joinChunks);
}

function bytesOf(value: unknown): Uint8Array {
  if (isBuffer(value)) return new Uint8Array(value);
  if (isBytes(value)) return value;
  throw corrupt('expected bytes, got something else');
}

/** Damage, or another program's tables. They are left as they are. */
function corrupt(what: string): FencepostError {
  return new FencepostError('JOURNAL_CORRUPT', `the storage of the object: ${what}`, {
    details: { stored: false },
  });
}
