/**
 * Fills an empty engine with what a journal holds: a snapshot, piece by piece, and the entries
 * behind it. The event loop gets its turn in between.
 */
import type { News } from './journal/journal.js';
import { cutForEngine } from './parts.js';
import type { Bridge } from './requests.js';
import { nextTurn } from './turn.js';

/** What is merged between two turns. */
const TURN_BYTES = 1 << 20;

export interface Loaded {
  readonly snapshotBytes: number;
  readonly entryBytes: number;
}

/** `use` makes each call of the engine, and tells its crash from what the journal throws. */
export async function load(
  engine: Bridge,
  { snapshot, entries }: Pick<News, 'snapshot' | 'entries'>,
  use: <T>(call: () => T) => T,
): Promise<Loaded> {
  const snapshotBytes = snapshot === undefined ? 0 : await restore(engine, snapshot.parts, use);
  let [entryBytes, bytesOfTurn] = [0, 0];
  for (const entry of entries) {
    if (bytesOfTurn > TURN_BYTES) {
      await nextTurn();
      bytesOfTurn = 0;
    }
    use(() => engine.merge(entry));
    entryBytes += entry.byteLength;
    bytesOfTurn += entry.byteLength;
  }
  return { snapshotBytes, entryBytes };
}

/** Answers how many bytes the snapshot has. */
export async function restore(
  engine: Bridge,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  use: <T>(call: () => T) => T,
): Promise<number> {
  let [bytes, bytesOfTurn] = [0, 0];
  use(() => engine.beginRestore());
  for await (const part of parts) {
    for (const piece of cutForEngine(part)) {
      if (bytesOfTurn >= TURN_BYTES) {
        await nextTurn();
        bytesOfTurn = 0;
      }
      use(() => engine.restorePart(piece));
      bytes += piece.byteLength;
      bytesOfTurn += piece.byteLength;
    }
  }
  use(() => engine.endRestore());
  return bytes;
}
