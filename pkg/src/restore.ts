/**
 * Opens a store on a backup: a new log whose rows are those of a snapshot.
 *
 * ```text
 *  read and check the backup ──> entry 1: "restoring" ──> snapshot at slot 1 ──> open
 *                                     └ interrupted here: opens again with `restore` only
 * ```
 *
 * **Invariant**: nothing is stored before the backup is read whole and found to be sound, and
 * nobody takes the log for a store before all of it is in the journal.
 */
import type { Committer } from './committer.js';
import { FencepostError } from './errors.js';
import type { News } from './journal/journal.js';
import { restore } from './loading.js';
import { Crash, crashed, type Replica } from './replica.js';
import type { Bridge } from './requests.js';
import { nextTurn } from './turn.js';

/**
 * @throws FencepostError `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW` for a backup that cannot be read;
 * `INVALID_ARGUMENT` when the journal holds a store
 */
export async function restoreBackup(committer: Committer, backup: Uint8Array): Promise<void> {
  const { replica } = committer;
  if (replica.isFounded && !isRestoring(replica)) throw notEmpty();
  const engine = replica.createEngine();
  let isUsable = true;
  const use = <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      if (error instanceof FencepostError) throw error;
      isUsable = false;
      throw crashed(error);
    }
  };
  try {
    await restore(engine, [backup], use);
    requireRoom(use(() => engine.usage()));
    await foundRestoring(committer);
    const entry = await firstEntry(committer);
    // Somebody else was first, and has brought a backup to its end.
    if (entry !== null) {
      use(() => engine.adopt(entry));
      await committer.journal.compact(1, partsOf(engine, use));
    }
  } catch (error) {
    throw error instanceof Crash ? crashed(error) : error;
  } finally {
    if (isUsable) engine.free();
  }
  await loadAll(committer);
}

/** @throws FencepostError `JOURNAL_CORRUPT` when a restore did not come to its end */
export function requireRestored(replica: Replica): void {
  if (!isRestoring(replica)) return;
  const message = 'the restore of a backup did not end: open it with `restore` again';
  throw new FencepostError('JOURNAL_CORRUPT', message, { details: { isRestoring: true } });
}

function isRestoring(replica: Replica): boolean {
  return replica.use((engine) => engine.isRestoring);
}

async function foundRestoring(committer: Committer): Promise<void> {
  const { replica } = committer;
  if (replica.isFounded) return;
  await committer.ask('lone command', undefined, (engine, { now }) => {
    if (engine.store === undefined) engine.foundRestoring(now);
  });
  if (!isRestoring(replica)) throw notEmpty();
}

/** The entry that waits for its snapshot; null when it has one. */
async function firstEntry(committer: Committer): Promise<Uint8Array | null> {
  let first: Uint8Array | null = null;
  await committer.readJournal(0, ({ snapshot, entries }) => {
    first = snapshot === undefined ? (entries[0] ?? null) : null;
  });
  return first;
}

async function* partsOf(
  engine: Bridge,
  use: <T>(call: () => T) => T,
): AsyncGenerator<Uint8Array, void, void> {
  const { id } = use(() => engine.beginSnapshot());
  for (;;) {
    const part = use(() => engine.snapshotPart(id));
    if (part === undefined) return;
    yield part.bytes;
    if (part.isLast) return;
    await nextTurn();
  }
}

/** What the journal holds is what counts, whoever put it there. */
async function loadAll(committer: Committer): Promise<void> {
  const seen: { news: News | null } = { news: null };
  do {
    await committer.readJournal(0, (news) => {
      seen.news = news;
    });
  } while (seen.news !== null && !(await committer.load(seen.news)));
  requireRestored(committer.replica);
}

/** A store must be able to live with what it begins with. */
function requireRoom({ bytes: size, limit }: { bytes: number; limit: number }): void {
  if (size <= limit) return;
  const message = `restore: the backup weighs ${size} bytes, a store at most ${limit}`;
  throw new FencepostError('STORE_FULL', message, { details: { size, limit } });
}

function notEmpty(): FencepostError {
  const message = 'restore: expected an empty journal, got one that holds a store';
  return new FencepostError('INVALID_ARGUMENT', message, { details: { argument: 'restore' } });
}
