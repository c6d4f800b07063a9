/** The entry `fencepost/indexeddb`: a journal in IndexedDB, for pages and their workers. */
import { FencepostError, quote, shown } from '../errors.js';
import { IndexedDbJournal } from './indexeddb-journal.js';
import type { Durability, Journal } from './journal.js';

/** How `indexedDb` keeps its promises. */
export interface IndexedDbOptions {
  /**
   * The name of the database. Default: `fencepost:` and the name of the store, so that every store
   * has a database of its own.
   */
  database?: string;
  /**
   * `strict` (default): the browser is asked to flush each commit to the disk. `relaxed`: a commit
   * survives a killed browser; a loss of power may take the last moments. Wins over what the store
   * asks for.
   */
  durability?: Durability;
}

/**
 * A journal in IndexedDB. Any number of pages and workers of one origin may open a store of one
 * name: they are replicas of one log.
 *
 * ```ts
 * const store = await open('my-app', { journal: indexedDb() })
 * ```
 *
 * @throws FencepostError `INVALID_ARGUMENT` for an unknown or a bad option
 */
export function indexedDb(options: IndexedDbOptions = {}): Journal {
  requireOptions(options);
  return new IndexedDbJournal(options.database ?? null, options.durability ?? null);
}

function requireOptions(options: IndexedDbOptions): void {
  for (const option of Object.keys(options)) {
    if (option === 'database' || option === 'durability') continue;
    throw invalid(option, `unknown option ${quote(option)}`);
  }
  const { database, durability } = options;
  if (database !== undefined && (typeof database !== 'string' || database === '')) {
    throw invalid('database', `expected the name of a database, got ${shown(database)}`);
  }
  if (durability === undefined || durability === 'strict' || durability === 'relaxed') return;
  throw invalid('durability', `expected "strict" or "relaxed", got ${shown(durability)}`);
}

function invalid(argument: string, what: string): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `indexedDb(options): ${what}`, {
    details: { argument, stored: false },
  });
}
