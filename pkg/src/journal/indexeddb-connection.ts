/**
 * A connection to one database that comes back by itself.
 *
 * ```text
 *  none ──use──> opening ──success──> open ──versionchange, close, lost──> none
 *                   └──error, no answer──> none
 * ```
 *
 * **Invariant**: it never stands in the way of another tab: asked to let go (`versionchange`), it
 * does, and opens again when it is used next. A database that was deleted meanwhile comes back
 * empty, which the store notices.
 *
 * **Invariant**: a page that stands still holds no transaction open. What was under way begins
 * again when the page goes on.
 */
import { FencepostError, quote } from '../errors.js';
import { cannotOpen } from './indexeddb-error.js';
import { createSchema, DATABASE_VERSION } from './indexeddb-schema.js';
import { Transaction } from './indexeddb-transaction.js';
import type { Durability } from './journal.js';
import { Standstill } from './standstill.js';

export interface ConnectionParts {
  /** The name of the database. */
  readonly database: string;
  /** The name of the store, for a database that is made. */
  readonly store: string;
  readonly durability: Durability;
}

/** Some browsers leave an open request without any answer. The next use then asks again. */
const ANSWER_MS_MAX = 10_000;

export class Connection {
  readonly parts: ConnectionParts;
  #current: Promise<IDBDatabase> | null = null;
  /** What `#current` has opened. */
  #connection: IDBDatabase | null = null;
  readonly #running = new Set<Transaction>();
  readonly #standstill = new Standstill(() => {
    for (const transaction of this.#running) transaction.interrupt();
  });

  constructor(parts: ConnectionParts) {
    this.parts = parts;
  }

  /**
   * Runs one transaction: `begin` makes its first requests. Resolves when it is complete. A lost
   * connection shows here at first; as long as nothing was written, a new one is tried once.
   *
   * @throws FencepostError and whatever the transaction was undone with
   */
  async transact(
    mode: IDBTransactionMode,
    begin: (transaction: Transaction) => void,
  ): Promise<void> {
    const { database, store, durability } = this.parts;
    let isSecond = false;
    for (;;) {
      await this.#standstill.over;
      const connection = await this.#get();
      let transaction: Transaction | null = null;
      try {
        transaction = new Transaction({ connection, store, mode, durability });
        await this.#run(transaction, begin);
        return;
      } catch (error) {
        if (transaction?.wasUndone) throw error;
        if (transaction?.wasInterrupted) continue;
        // What the browser refused may be about the connection itself: a new one costs little.
        this.#drop(connection);
        if (transaction === null && isSecond) throw cannotOpen(error, database);
        if (transaction?.hasWritten || isSecond) throw error;
        isSecond = true;
      }
    }
  }

  async #run(transaction: Transaction, begin: (transaction: Transaction) => void): Promise<void> {
    this.#running.add(transaction);
    try {
      // In the turn in which it was made: later it may have committed itself.
      transaction.begin(begin);
      await transaction.done;
    } finally {
      this.#running.delete(transaction);
    }
  }

  /** Waits for nothing but an opening that is under way. */
  async close(): Promise<void> {
    this.#standstill.close();
    const connection = await this.#current?.catch(() => null);
    if (connection) this.#drop(connection);
  }

  #get(): Promise<IDBDatabase> {
    this.#current ??= this.#open();
    return this.#current;
  }

  /** The next use opens another one. */
  #drop(connection: IDBDatabase): void {
    connection.close();
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#current = null;
  }

  /** Chromium may leave the transactions of a connection that it closes without an end. */
  #lose(connection: IDBDatabase): void {
    if (this.#connection === connection) {
      for (const transaction of this.#running) transaction.lose();
    }
    this.#drop(connection);
  }

  #open(): Promise<IDBDatabase> {
    return requestOpen(this.parts).then(
      (connection) => {
        this.#connection = connection;
        connection.onversionchange = () => this.#drop(connection);
        connection.onclose = () => this.#lose(connection);
        return connection;
      },
      (error: unknown) => {
        this.#current = null;
        throw error;
      },
    );
  }
}

function requestOpen({ database, store }: ConnectionParts): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const fail = (error: unknown) => {
      isOver = true;
      clearTimeout(timer);
      reject(cannotOpen(error, database));
    };
    const timer = setTimeout(() => fail(noAnswer(database)), ANSWER_MS_MAX);
    try {
      const request = indexedDB.open(database, DATABASE_VERSION);
      request.onupgradeneeded = () => createSchema(request.result, store);
      request.onblocked = () => fail(noAnswer(database));
      request.onerror = (event) => {
        // The trap: Firefox reports what nobody prevented as an error of the page.
        event.preventDefault();
        fail(request.error);
      };
      request.onsuccess = () => {
        if (isOver) request.result.close();
        clearTimeout(timer);
        resolve(request.result);
      };
    } catch (error) {
      fail(error);
    }
  });
}

function noAnswer(database: string): FencepostError {
  return new FencepostError(
    'JOURNAL_UNAVAILABLE',
    `the database ${quote(database)} cannot be opened: the browser does not answer`,
    { details: { database, stored: false } },
  );
}
