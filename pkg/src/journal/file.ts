/** The entry `fencepost/file`: a journal in a directory, for Node, Deno and Bun. */
import { resolve } from 'node:path';
import { FencepostError, quote, shown } from '../errors.js';
import { FileJournal } from './file-journal.js';
import type { Durability, Journal } from './journal.js';

export { defaultPath } from './default-path.js';

/** How `file` keeps its promises. */
export interface FileJournalOptions {
  /**
   * `strict` (default): a commit survives a loss of power, each one costs a flush of the disk.
   * `relaxed`: it survives a killed process; a loss of power may take what was committed since the
   * last compaction or opening, from some entry on, and `store.recovered` tells of it. Wins over
   * what the store asks for.
   */
  durability?: Durability;
}

/**
 * A journal in the directory `path`, which is made when it is missing. Without a path:
 * `.fencepost/<name of the store>` in the working directory.
 *
 * Opening it rejects with `JOURNAL_LOCKED` while another process, or another store of this one, has
 * it open. A holder that died is no hindrance.
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
  return new FileJournal(directory, options.durability ?? null);
}

function requirePath(path: unknown): void {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalid('path', `expected the path of a directory, got ${shown(path)}`);
  }
}

function requireOptions(options: FileJournalOptions): void {
  for (const option of Object.keys(options)) {
    if (option !== 'durability') throw invalid(option, `unknown option ${quote(option)}`);
  }
  const { durability } = options;
  if (durability === undefined || durability === 'strict' || durability === 'relaxed') return;
  throw invalid('durability', `expected "strict" or "relaxed", got ${shown(durability)}`);
}

function invalid(argument: string, what: string): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `file(path, options): ${what}`, {
    details: { argument, stored: false },
  });
}
