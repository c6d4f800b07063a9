/**
 * What the journal still has after a version, told by an engine of its own.
 *
 * It starts from the journal's snapshot, merges the entries behind it one by one, as the reader
 * asks for more, and never decides anything. A snapshot beyond what was told is a `gap`.
 *
 * **Cost**: a second copy of the state, and the entries that are not merged yet. Given back when
 * the live events take over.
 */

import { FencepostError } from './errors.js';
import type { News } from './journal/journal.js';
import { restore } from './loading.js';
import { messageOf } from './realm.js';
import { requireSameLog } from './replica.js';
import type { Bridge, CallerRequest } from './requests.js';
import type { StoreEvent } from './types.js';

export interface ReplayParts {
  /** Makes an engine. */
  create(): Bridge;
  readonly logId: string;
  readonly caller: CallerRequest | undefined;
  /** The version after which to tell. */
  readonly from: number;
}

export class Replay {
  readonly #engine: Bridge;
  readonly #logId: string;
  readonly #caller: number;
  /** The next one is the last. */
  #entries: Uint8Array[] = [];
  #restored: StoreEvent[] = [];
  /** What begins with a snapshot, and is not loaded yet. */
  #behind: News | null = null;
  #isUsable = true;

  constructor({ create, logId, caller, from }: ReplayParts) {
    this.#logId = logId;
    this.#engine = this.#use(create);
    this.#caller = this.#use(() => {
      this.#engine.recordEvents(from);
      return caller === undefined ? 0 : this.#engine.addCaller(caller);
    });
  }

  /** What it merged last. */
  get slot(): number {
    return this.#engine.slot;
  }

  /** Up to which it told. */
  get version(): number {
    return this.#engine.version;
  }

  /** What is still to be merged. */
  get bytesLeft(): number {
    return this.#entries.reduce((bytes, entry) => bytes + entry.byteLength, 0);
  }

  get isAtEnd(): boolean {
    return this.#entries.length === 0 && this.#restored.length === 0;
  }

  /** Takes what follows on the slot that it is at, and on what it was given before. */
  accept(news: News): void {
    // The trap: a journal that has to begin again shows only what is new since it showed last.
    const slot = this.slot + this.#entries.length;
    requireSameLog(news, { logId: this.#logId, slot });
    const { snapshot, entries } = news;
    if (snapshot !== undefined) {
      this.#behind = news;
      this.#entries = [];
      return;
    }
    if (slot + entries.length !== news.tip?.slot) {
      throw new FencepostError('JOURNAL_CORRUPT', 'the journal ends before its newest entry');
    }
    this.#entries = [...[...entries].reverse(), ...this.#entries];
  }

  /** Loads the snapshot that came, if one did. One that was replaced meanwhile comes again. */
  async load(): Promise<void> {
    const news = this.#behind;
    this.#behind = null;
    if (news?.snapshot === undefined) return;
    try {
      await restore(this.#engine, news.snapshot.parts, (call) => this.#use(call));
    } catch (error) {
      if (error instanceof FencepostError && error.details.replaced === true) return;
      throw error;
    }
    if (!this.#isUsable) return;
    this.#restored.push(...this.#told(() => undefined));
    this.#entries = [...news.entries].reverse();
  }

  /** The events of the next entry. */
  step(): StoreEvent[] {
    const restored = this.#restored;
    this.#restored = [];
    const entry = restored.length > 0 ? undefined : this.#entries.pop();
    return entry === undefined ? restored : this.#told((engine) => engine.merge(entry));
  }

  free(): void {
    if (this.#isUsable) this.#engine.free();
    this.#isUsable = false;
  }

  #told(merge: (engine: Bridge) => void): StoreEvent[] {
    return this.#use(() => {
      merge(this.#engine);
      const events = this.#engine.events(this.#caller);
      this.#engine.forgetEvents();
      return events;
    });
  }

  /** An engine that crashed is not called again, not even to free it. */
  #use<T>(call: () => T): T {
    if (!this.#isUsable) throw new FencepostError('STORE_CLOSED', 'the replay was given up');
    try {
      return call();
    } catch (error) {
      if (error instanceof FencepostError) throw error;
      this.#isUsable = false;
      const message = messageOf(error);
      const what = `the engine that replays crashed: ${message}`;
      throw new FencepostError('ENGINE_CRASHED', what, { cause: error });
    }
  }
}
