/**
 * One transaction, driven by the callbacks of its requests.
 *
 * **Invariant**: nothing is awaited in it: Firefox commits a transaction as soon as the script
 * waits for anything else.
 *
 * **Invariant**: `done` resolves when the browser says `complete`, which is when the write is as
 * durable as was asked for. That a request succeeded says nothing.
 *
 * **Invariant**: whatever request is refused, nothing of the transaction counts. So it is never
 * committed by hand: Firefox completes a transaction whose `commit` was called although a request
 * is refused after that, and can no longer be made to abort it. Left alone it commits by itself
 * when every request was answered.
 */
import { aborted, nothingStored, storedInPart } from './indexeddb-error.js';
import { HEAD, type Head, JOURNAL, META, requireHead, SNAPSHOT } from './indexeddb-schema.js';
import type { Durability } from './journal.js';

export interface TransactionParts {
  readonly connection: IDBDatabase;
  /** The name of the store. */
  readonly store: string;
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
}

export class Transaction {
  readonly meta: IDBObjectStore;
  readonly journal: IDBObjectStore;
  readonly snapshot: IDBObjectStore;
  readonly database: string;
  /** Rejects with what a step has thrown, or with what the abort means. */
  readonly done: Promise<void>;
  readonly #store: string;
  readonly #transaction: IDBTransaction;
  /** Why a step has given up: nothing is stored. */
  #fault: { error: unknown } | null = null;
  /** What the first failed request was refused with. */
  #refused: unknown = null;
  #hasWritten = false;
  #wasInterrupted = false;
  /** Rejects `done`, unless it is settled. */
  #fail: (error: unknown) => void = () => undefined;

  /** @throws DOMException when the connection is lost or the database is a foreign one */
  constructor({ connection, store, mode, durability }: TransactionParts) {
    this.database = connection.name;
    this.#store = store;
    const stores = [META, JOURNAL, SNAPSHOT];
    this.#transaction = connection.transaction(stores, mode, { durability });
    this.meta = this.#transaction.objectStore(META);
    this.journal = this.#transaction.objectStore(JOURNAL);
    this.snapshot = this.#transaction.objectStore(SNAPSHOT);
    this.done = new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#transaction.oncomplete = () => {
        // Should a browser do that after all, its word is not taken for the whole.
        if (this.#refused !== null) reject(storedInPart(this.#refused, this.database));
        resolve();
      };
      this.#transaction.onabort = () => this.lose();
      this.#transaction.onerror = (event) => {
        // The trap: Firefox reports what nobody prevented as an error of the page, and what was
        // prevented aborts nothing.
        event.preventDefault();
        this.#refused ??= (event.target as IDBRequest | null)?.error;
        this.#abort();
      };
    });
  }

  /** Whether it ended because a step gave up: the connection is well. */
  get wasUndone(): boolean {
    return this.#fault !== null;
  }

  /** Whether anything was sent that a commit would store. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Whether it was undone because of what happens to the page: it may begin again as it is. */
  get wasInterrupted(): boolean {
    return this.#wasInterrupted;
  }

  /** Makes the first requests. */
  begin(work: (transaction: Transaction) => void): void {
    this.#step(() => work(this));
  }

  /** Undoes everything; `done` rejects with `error` as it is. */
  undo(error: unknown): void {
    this.#fault ??= { error };
    this.#abort();
  }

  /** Undoes everything, unless it is being committed: the browser then ends it without the page. */
  interrupt(): void {
    this.#wasInterrupted = this.#abort();
  }

  /** It will not complete, or nobody will be told: the connection is gone. */
  lose(): void {
    this.#fail(this.#reason());
  }

  /** Calls `next` with the result of a request. */
  onResult<T>(request: IDBRequest<T>, next: (result: T) => void): void {
    request.onsuccess = () => this.#step(() => next(request.result));
  }

  /** Gives up when this is no journal of the store. */
  readHead(next: (head: Head) => void): void {
    const request = this.meta.get(HEAD) as IDBRequest<unknown>;
    this.onResult(request, (value) => next(requireHead(value, this.database, this.#store)));
  }

  writeHead(head: Head): void {
    this.#hasWritten = true;
    this.meta.put(head, HEAD);
  }

  /** What a step throws undoes everything. */
  #step(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.undo(nothingStored(error, this.database));
    }
  }

  /**
   * Whether it could be undone: not when it has ended or is being committed.
   *
   * The trap: Chromium never tells of the abort when it closes the connection at that time.
   */
  #abort(): boolean {
    try {
      this.#transaction.abort();
    } catch {
      return false;
    }
    this.lose();
    return true;
  }

  #reason(): unknown {
    if (this.#fault !== null) return this.#fault.error;
    const error = this.#transaction.error ?? this.#refused;
    return this.#hasWritten ? aborted(error, this.database) : nothingStored(error, this.database);
  }
}
