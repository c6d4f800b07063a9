/**
 * Snapshots in IndexedDB: written and read in chunks, each in a transaction of its own, so that
 * commits go on meanwhile.
 *
 * **Invariant**: the chunks of a snapshot mean nothing until the head names it. Whatever else is
 * there was left by an interrupted one, and the next one deletes it.
 */
import { host } from '../host.js';
import { inChunks, snapshotReplaced } from './chunks.js';
import type { Connection } from './indexeddb-connection.js';
import { isNewer, readChunk, replaceSnapshot, sweepSnapshots } from './indexeddb-log.js';
import { chunkKey, type StoredSnapshot } from './indexeddb-schema.js';
import type { Slot, SnapshotParts } from './journal.js';

/** Writes a snapshot beside the present one, and then puts it in its place. */
export async function writeSnapshot(
  connection: Connection,
  slot: Slot,
  parts: SnapshotParts,
): Promise<void> {
  let isNeeded = false;
  await connection.transact('readwrite', (transaction) => {
    sweepSnapshots(transaction, (head) => {
      isNeeded = isNewer(slot, head, transaction.database);
      return isNeeded;
    });
  });
  if (!isNeeded) return;
  const written: StoredSnapshot = { slot, chunks: 0, id: randomId() };
  try {
    for await (const chunk of inChunks(parts)) {
      const key = chunkKey(written, written.chunks);
      await connection.transact('readwrite', ({ snapshot }) => {
        snapshot.put(chunk, key);
      });
      written.chunks += 1;
    }
    await connection.transact('readwrite', (transaction) => replaceSnapshot(transaction, written));
  } catch (error) {
    // What was written may be what a full quota is full of.
    await sweep(connection).catch(() => undefined);
    throw error;
  }
}

function sweep(connection: Connection): Promise<void> {
  return connection.transact('readwrite', (transaction) => {
    sweepSnapshots(transaction, () => true);
  });
}

/** How the chunks of a snapshot are read. */
export function partsOn(
  connection: Connection,
): (snapshot: StoredSnapshot) => AsyncIterable<Uint8Array> {
  return async function* parts(snapshot) {
    for (let number = 0; number < snapshot.chunks; number += 1) {
      const read: { chunk: Uint8Array | null } = { chunk: null };
      await connection.transact('readonly', (transaction) => {
        readChunk(transaction, snapshot, number, (chunk) => {
          read.chunk = chunk;
        });
      });
      if (read.chunk === null) throw snapshotReplaced();
      yield read.chunk;
    }
  };
}

function randomId(): string {
  const numbers = host('crypto').getRandomValues(new Uint32Array(4));
  return [...numbers].map((number) => number.toString(36)).join('-');
}
