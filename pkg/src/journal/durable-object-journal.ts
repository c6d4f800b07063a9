/**
 * The journal on a Durable Object's SQLite storage.
 *
 * **Invariant**: a commit reads, decides and appends in one synchronous transaction of the storage,
 * so that nothing of the object comes in between, and it is there whole or not at all.
 *
 * **Invariant**: `strict` resolves when the storage is on disk. In `relaxed` the runtime still
 * holds answers to the outside back until it is; only code of the object itself may see more.
 *
 * **Cost**: a commit writes one row for each MiB of its entry, and the head.
 */
import { FencepostError } from '../errors.js';
import { messageOf } from '../realm.js';
import { inChunks, snapshotReplaced } from './chunks.js';
import type { DurableObjectStorage } from './durable-object.js';
import {
  append,
  beginSnapshot,
  prepare,
  putChunk,
  readChunk,
  readNews,
  replaceSnapshot,
} from './durable-object-log.js';
import type { Entry, Journal, JournalOptions, News, Slot, SnapshotParts } from './journal.js';
import { Turns } from './turns.js';

interface Watcher {
  /** Whose it is; null: of nobody who closes. */
  readonly journal: DurableObjectJournal | null;
  readonly onNews: () => void;
}

/** Of all handles of an object: there is no other writer. */
const watchersOf = new WeakMap<DurableObjectStorage, Set<Watcher>>();

function watchers(storage: DurableObjectStorage): Set<Watcher> {
  const known = watchersOf.get(storage) ?? new Set();
  watchersOf.set(storage, known);
  return known;
}

/** Calls `onNews` soon after every commit to the storage, by whichever handle. */
export function watchStorage(storage: DurableObjectStorage, onNews: () => void): () => void {
  const watcher = { journal: null, onNews };
  watchers(storage).add(watcher);
  return () => {
    watchers(storage).delete(watcher);
  };
}

/** `deleteAll()` takes the tables away under an open journal. */
const TABLES_GONE = /no such table: fencepost_/;

/** One snapshot is written at a time, whichever handle it comes from. */
const compactionsOf = new WeakMap<DurableObjectStorage, Turns>();

export class DurableObjectJournal implements Journal {
  readonly #storage: DurableObjectStorage;
  readonly #watchers: Set<Watcher>;
  readonly #turns = new Turns();
  #opened: { readonly strict: boolean } | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#watchers = watchers(storage);
  }

  open(name: string, options: JournalOptions = {}): Promise<News> {
    return this.#turns.run(async () => {
      const { sql } = this.#storage;
      const news = this.#transact(() => {
        prepare(sql, name);
        return readNews(sql, 0, (snapshot) => this.#parts(snapshot));
      });
      this.#opened = { strict: (options.durability ?? 'strict') === 'strict' };
      return news;
    });
  }

  commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    return this.#turns.run(async () => {
      const { strict } = this.#requireOpened();
      const { sql } = this.#storage;
      const isStored = this.#transact((decided) => {
        const news = readNews(sql, after, (snapshot) => this.#parts(snapshot));
        const entry = decided(() => decide(news));
        if (entry === null) return false;
        append(sql, entry);
        return true;
      });
      if (!isStored) return;
      if (strict) await this.#storage.sync();
      this.#tell();
    });
  }

  compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    const turns = compactionsOf.get(this.#storage) ?? new Turns();
    compactionsOf.set(this.#storage, turns);
    return turns.run(async () => {
      const { strict } = this.#requireOpened();
      const { sql } = this.#storage;
      if (!this.#transact(() => beginSnapshot(sql, slot))) return;
      let number = 0;
      for await (const chunk of inChunks(parts)) {
        this.#requireOpened();
        this.#transact(() => putChunk(sql, slot, number, chunk));
        number += 1;
      }
      this.#transact(() => replaceSnapshot(sql, slot));
      if (strict) await this.#storage.sync();
    });
  }

  watch(onNews: () => void): () => void {
    const watcher = { journal: this, onNews };
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  close(): Promise<void> {
    return this.#turns.run(async () => {
      this.#opened = null;
      for (const watcher of this.#watchers) {
        if (watcher.journal === this) this.#watchers.delete(watcher);
      }
    });
  }

  async *#parts(slot: Slot): AsyncGenerator<Uint8Array, void, void> {
    for (let number = 0; ; number += 1) {
      const chunk = this.#transact(() => readChunk(this.#storage.sql, slot, number));
      if (chunk === 'replaced') throw snapshotReplaced();
      if (chunk === null) return;
      yield chunk;
    }
  }

  /** What fails in here was undone; what `decided` runs may throw what it likes. */
  #transact<T>(body: (decided: <R>(decide: () => R) => R) => T): T {
    let thrown: { readonly error: unknown } | null = null;
    try {
      return this.#storage.transactionSync(() =>
        body((decide) => {
          try {
            return decide();
          } catch (error) {
            thrown = { error };
            throw error;
          }
        }),
      );
    } catch (cause) {
      if (thrown !== null || cause instanceof FencepostError) throw cause;
      const problem = messageOf(cause);
      if (this.#opened !== null && TABLES_GONE.test(problem)) throw replaced(cause);
      const code = /SQLITE_FULL|database or disk is full/i.test(problem) ? 'JOURNAL_FULL' : null;
      const message = `the storage of the object failed; nothing was stored (${problem})`;
      throw new FencepostError(code ?? 'JOURNAL_UNAVAILABLE', message, {
        details: { stored: false },
        cause,
      });
    }
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) {
      queueMicrotask(() => {
        if (this.#watchers.has(watcher)) watcher.onNews();
      });
    }
  }

  #requireOpened(): { readonly strict: boolean } {
    if (this.#opened !== null) return this.#opened;
    throw new FencepostError('STORE_CLOSED', 'the journal of the object is not open', {
      details: { stored: false },
    });
  }
}

function replaced(cause: unknown): FencepostError {
  const message = 'the storage of the object was cleared; open the store again';
  return new FencepostError('LOG_REPLACED', message, { details: { stored: false }, cause });
}
