/** A journal on the SQLite storage of a Durable Object. */
import { FencepostError, shown } from '../errors.js';
import { DurableObjectJournal } from './durable-object-journal.js';
import type { Journal } from './journal.js';

/** What is used of the context that the runtime gives to an object. */
export interface DurableObjectContext {
  readonly storage: DurableObjectStorage;
}

/** What is used of its storage. */
export interface DurableObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(body: () => T): T;
  /** Resolves when everything written before is on disk. */
  sync(): Promise<void>;
  /** When the alarm is due, in milliseconds since the Unix epoch. */
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
  deleteAlarm(): Promise<void>;
  /** Values by key, beside the tables. */
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
}

/**
 * A journal on the SQLite storage of the object with this context. It lives in three tables whose
 * names begin with `fencepost_`; the rest of the storage is the application's. An object holds one
 * store, which any number of handles in it may open.
 *
 * ```ts
 * const store = await open('jobs', { journal: durableObject(this.ctx) })
 * ```
 *
 * @throws FencepostError `INVALID_ARGUMENT` when `ctx` is no context with SQLite storage
 */
export function durableObject(ctx: DurableObjectContext): Journal {
  const storage = (ctx as DurableObjectContext | null | undefined)?.storage;
  if (typeof storage?.transactionSync !== 'function' || typeof storage.sql?.exec !== 'function') {
    throw new FencepostError(
      'INVALID_ARGUMENT',
      `durableObject(ctx): expected a context with SQLite storage, got ${shown(ctx)}`,
      { details: { argument: 'ctx', stored: false } },
    );
  }
  return new DurableObjectJournal(storage);
}
