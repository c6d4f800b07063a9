/**
 * The journal in IndexedDB: one database per store, shared by all pages and workers of an origin.
 *
 * **Invariant**: a commit reads, decides and appends inside of one readwrite transaction. IndexedDB
 * lets one of those in at a time and in the order of asking, so there are no conflicts and every
 * tab gets its turn.
 *
 * **Invariant**: a promise resolves when the transaction is complete.
 *
 * **Cost**: a commit is two reads, two writes of one value each and one flush.
 */
import { FencepostError } from '../errors.js';
import { Hints } from './hints.js';
import { Connection } from './indexeddb-connection.js';
import { append, readNews } from './indexeddb-log.js';
import { partsOn, writeSnapshot } from './indexeddb-snapshot.js';
import type {
  Durability,
  Entry,
  Journal,
  JournalOptions,
  News,
  Slot,
  SnapshotParts,
} from './journal.js';

interface Opened {
  readonly connection: Connection;
  readonly hints: Hints;
}

export class IndexedDbJournal implements Journal {
  readonly #database: string | null;
  readonly #durability: Durability | null;
  #opened: Opened | null = null;
  /** What was accepted and is not settled. */
  readonly #accepted = new Set<Promise<unknown>>();

  constructor(database: string | null, durability: Durability | null) {
    this.#database = database;
    this.#durability = durability;
  }

  async open(name: string, options: JournalOptions = {}): Promise<News> {
    if (this.#opened !== null) {
      const message = 'this journal is open already; every store takes an indexedDb() of its own';
      throw new FencepostError('JOURNAL_LOCKED', message, { details: { stored: false } });
    }
    const database = this.#database ?? `fencepost:${name}`;
    const durability = this.#durability ?? options.durability ?? 'strict';
    const connection = new Connection({ database, store: name, durability });
    let news: News = { tip: null, entries: [] };
    try {
      await connection.transact('readonly', (transaction) => {
        readNews(transaction, 0, partsOn(connection), (read) => {
          news = read;
        });
      });
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#opened = { connection, hints: new Hints(database) };
    return news;
  }

  async commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    const { connection, hints } = this.#requireOpened();
    let isStored = false;
    /** Up to where it was told: a transaction that begins again goes on from there. */
    let told = after;
    await this.#accept(
      connection.transact('readwrite', (transaction) => {
        readNews(transaction, told, partsOn(connection), (news, head) => {
          told = Math.max(told, news.tip?.slot ?? 0);
          let entry: Entry | null;
          try {
            entry = decide(news);
          } catch (error) {
            transaction.undo(error);
            return;
          }
          isStored = entry !== null;
          if (entry !== null) append(transaction, head, entry);
        });
      }),
    );
    if (isStored) hints.send();
  }

  async compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    const { connection } = this.#requireOpened();
    await this.#accept(writeSnapshot(connection, slot, parts));
  }

  watch(onNews: () => void): () => void {
    return this.#requireOpened().hints.watch(onNews);
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await Promise.allSettled([...this.#accepted]);
    await opened?.connection.close();
    opened?.hints.close();
  }

  async #accept(work: Promise<void>): Promise<void> {
    this.#accepted.add(work);
    try {
      await work;
    } finally {
      this.#accepted.delete(work);
    }
  }

  #requireOpened(): Opened {
    if (this.#opened !== null) return this.#opened;
    throw new FencepostError('STORE_CLOSED', 'the IndexedDB journal is not open', {
      details: { stored: false },
    });
  }
}
