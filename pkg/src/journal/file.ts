/** The entry `fencepost/file`: a journal in a directory, for Node, Deno and Bun. */
import { resolve } from 'node:path';
import { FencepostError, quote, shown } from '../errors.js';
import { FileJournal } from './file-journal.js';
import type { Durability, Journal } from './journal.js';

export { defaultPath } from './default-path.js';

/** What a timer holds. */
const WAIT_MS_MAX = 2 ** 31 - 1;
const OPTIONS = ['durability', 'lockWait', 'takeOver'];

/** How `file` keeps its promises. */
export interface FileJournalOptions {
  /**
   * `strict` (default): a commit survives a loss of power, each one costs a flush of the disk.
   * `relaxed`: it survives a killed process; a loss of power may take what was committed since the
   * last compaction or opening, from some entry on, and `store.recovered` tells of it. Wins over
   * what the store asks for.
   */
  durability?: Durability;
  /**
   * How long opening waits for another holder of the directory, in milliseconds; `Infinity` is as
   * long as it takes. Default 0: it rejects with `JOURNAL_LOCKED` at once. Nothing is asked again
   * meanwhile where the holder can be felt to end, which is mostly the case.
   *
   * ```ts
   * // A rolling restart: the next process opens when the one before has closed, or has died.
   * const store = await open('my-app', { journal: file('/var/lib/my-app', { lockWait: 60_000 }) })
   * ```
   */
  lockWait?: number;
  /**
   * Takes the directory from a holder of whom it is not known whether it still lives. Default
   * false. For a volume that another machine or container may have had, once *you* know that it has
   * ended.
   *
   * **Danger**: a holder that lives after all fails with `JOURNAL_UNAVAILABLE` or `LOG_REPLACED` as
   * soon as it writes, and acknowledges nothing that is not in the journal you read. That rests on
   * one file system that all see alike: on a volume that a machine caches (NFS, SMB) it may notice
   * late, and if it was just compacting, its files may replace yours.
   */
  takeOver?: boolean;
}

/**
 * A journal in the directory `path`, which is made when it is missing. Without a path:
 * `.fencepost/<name of the store>` in the working directory.
 *
 * Opening it rejects with `JOURNAL_LOCKED` while another process, or another store of this one, has
 * it open, whatever namespaces or host names they have. A holder that is known to be dead is no
 * hindrance: its process was killed, its thread terminated, the machine was started anew. What it
 * had claimed is given back at once. Whether a holder on another machine still lives cannot be
 * known, so the error says what to check; see `takeOver`.
 *
 * ```ts
 * const store = await open('my-app', { journal: file('/var/lib/my-app') })
 * ```
 *
 * @throws FencepostError `INVALID_ARGUMENT` for a bad path or an unknown option
 */
export function file(path?: string, options: FileJournalOptions = {}): Journal {
  if (path !== undefined) requirePath(path);
  requireOptions(options);
  const directory = path === undefined ? null : resolve(path);
  const { durability, lockWait = 0, takeOver = false } = options;
  return new FileJournal(directory, { durability, lock: { wait: lockWait, force: takeOver } });
}

function requirePath(path: unknown): void {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalid('path', `expected the path of a directory, got ${shown(path)}`);
  }
}

function requireOptions(options: FileJournalOptions): void {
  for (const option of Object.keys(options)) {
    if (!OPTIONS.includes(option)) throw invalid(option, `unknown option ${quote(option)}`);
  }
  const { durability, lockWait, takeOver } = options;
  if (![undefined, 'strict', 'relaxed'].includes(durability)) {
    throw invalid('durability', `expected "strict" or "relaxed", got ${shown(durability)}`);
  }
  if (lockWait !== undefined && !isWait(lockWait)) {
    const expected = `milliseconds from 0 to ${WAIT_MS_MAX}, or Infinity`;
    throw invalid('lockWait', `expected ${expected}, got ${shown(lockWait)}`);
  }
  if (takeOver !== undefined && typeof takeOver !== 'boolean') {
    throw invalid('takeOver', `expected true or false, got ${shown(takeOver)}`);
  }
}

function isWait(value: unknown): boolean {
  if (value === Number.POSITIVE_INFINITY) return true;
  return typeof value === 'number' && value >= 0 && value <= WAIT_MS_MAX;
}

function invalid(argument: string, what: string): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `file(path, options): ${what}`, {
    details: { argument, stored: false },
  });
}
