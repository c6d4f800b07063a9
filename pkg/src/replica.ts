/**
 * The engine of an open store, kept level with its journal.
 *
 * **Invariant**: it merges only what follows on what it merged last, of the same log: the tip that
 * the journal names must be exactly the slot and tag it arrives at. Otherwise the log was
 * replaced, and nothing is appended.
 *
 * **Invariant**: a crashed engine is never called again, not even to free it. A new one starts
 * empty and gets everything from the journal: the state is a cache.
 */

import { FencepostError } from './errors.js';
import { Feed, type Listener } from './feed.js';
import type { Entry, News, Slot } from './journal/journal.js';
import { messageOf } from './realm.js';
import { hex } from './records.js';
import type { Bridge, CallerRequest } from './requests.js';

const LOG_ID_BYTES = 16;

/** The engine failed in a way that only a new instance cures. */
export class Crash extends Error {
  override get name(): string {
    return 'Crash';
  }
}

/** A place in a log. */
interface Known {
  readonly logId: string;
  readonly slot: Slot;
}

export class Replica {
  readonly #create: () => Bridge;
  #engine: Bridge;
  #usable = true;
  #callers = new Map<CallerRequest, number>();
  readonly #feed = new Feed();
  /** Where it was before the engine crashed: nothing may be older. */
  #known: Known | null = null;
  #version = 0;
  /** Bytes of the entries since the newest snapshot, and of that snapshot. */
  entryBytes = 0;
  snapshotBytes = 0;

  constructor(create: () => Bridge) {
    this.#create = create;
    this.#engine = create();
  }

  /** Whether the engine may be called. */
  get isUsable(): boolean {
    return this.#usable;
  }

  get isFounded(): boolean {
    return this.#known !== null;
  }

  get logId(): string {
    return this.#known?.logId ?? '';
  }

  /** Of the newest merged command. */
  get version(): number {
    return this.#version;
  }

  /** What it merged last: the journal is asked for what follows. */
  get slot(): number {
    return this.use((engine) => engine.slot);
  }

  /** The same, also while the engine has crashed and is not rebuilt. */
  get knownSlot(): Slot {
    return this.#known?.slot ?? 0;
  }

  /** Of the newest merged entry. */
  get time(): number {
    return this.use((engine) => engine.time);
  }

  /**
   * Calls the engine. What it throws for reasons of its own is an error of the package; anything
   * else is a crash.
   */
  use<T>(call: (engine: Bridge) => T): T {
    if (!this.#usable) throw new Crash('the engine crashed before');
    try {
      return call(this.#engine);
    } catch (error) {
      if (error instanceof FencepostError) throw error;
      this.#usable = false;
      throw error instanceof Crash ? error : new Crash(this.#lastWords(error), { cause: error });
    }
  }

  /**
   * Replaces a crashed engine by an empty one.
   *
   * @throws Crash when there is no memory for it
   */
  rebuild(): void {
    if (this.#usable) return;
    try {
      this.#engine = this.#create();
    } catch (error) {
      throw new Crash('a new engine could not be made', { cause: error });
    }
    this.#callers = new Map();
    this.#usable = true;
    this.entryBytes = 0;
    this.use((engine) => this.#feed.adopt(engine));
  }

  /** Another engine, empty, that whoever asked for it owns. */
  createEngine(): Bridge {
    return this.#create();
  }

  /** Gives the memory back, if the engine may be called. */
  free(): void {
    if (this.#usable) this.#engine.free();
    this.#usable = false;
  }

  /** The engine's number for a caller; 0 is the root. */
  numberOf(caller: CallerRequest | undefined): number {
    if (caller === undefined) return 0;
    const known = this.#callers.get(caller);
    if (known !== undefined) return known;
    const number = this.use((engine) => engine.addCaller(caller));
    this.#callers.set(caller, number);
    return number;
  }

  forget(caller: CallerRequest): void {
    const number = this.#callers.get(caller);
    this.#callers.delete(caller);
    if (number !== undefined && this.#usable) this.use((engine) => engine.removeCaller(number));
  }

  /** Tells of what is merged from here on. Returns the way to stop it. */
  listen(listener: Listener): () => void {
    this.#feed.add(listener, this.#usable ? this.#engine : undefined);
    return () => this.#feed.remove(listener, this.#usable ? this.#engine : undefined);
  }

  /** Drops what is staged or sealed: it was not stored, or is merged by now. */
  forgetProposal(): void {
    if (this.#usable) this.use((engine) => engine.discard());
  }

  /** Drops what is staged and merges what is new. */
  accept(news: News): void {
    if (this.#known !== null) requireSameLog(news, this.#known);
    this.use((engine) => {
      engine.discard();
      if (news.snapshot !== undefined) {
        engine.restore(news.snapshot.bytes);
        this.snapshotBytes = news.snapshot.bytes.byteLength;
        this.entryBytes = 0;
      }
      for (const entry of news.entries) {
        engine.merge(entry);
        this.entryBytes += entry.byteLength;
      }
    });
    this.#requireTip(news);
    this.#noteWhere();
  }

  /** The sealed entry is in the journal. */
  mergeSealed(bytes: number): void {
    this.use((engine) => engine.mergeSealed());
    this.entryBytes += bytes;
    this.#noteWhere();
  }

  /** An entry that was sealed before and discarded is in the journal after all. */
  acceptOne({ bytes }: Entry): void {
    this.use((engine) => engine.merge(bytes));
    this.entryBytes += bytes.byteLength;
    this.#noteWhere();
  }

  #noteWhere(): void {
    const { slot, logId, version } = this.#engine;
    if (slot > 0) this.#known = { slot, logId };
    this.#version = version;
    this.use((engine) => this.#feed.tell(engine, version, (caller) => this.numberOf(caller)));
  }

  #requireTip({ tip }: News): void {
    const { slot, tag } = this.#engine;
    const expected = tip ?? { slot: 0, tag };
    if (slot === expected.slot && sameBytes(tag, expected.tag)) return;
    if (slot === this.#known?.slot) throw replaced(this.logId, 'a fork of it');
    const what = `its newest entry is slot ${expected.slot}, but what it gave ends at slot ${slot}`;
    throw new FencepostError('JOURNAL_CORRUPT', `the journal is damaged: ${what}`);
  }

  #lastWords(error: unknown): string {
    return this.#engine.crashMessage ?? messageOf(error);
  }
}

/** @throws FencepostError `LOG_REPLACED` when the journal is not the one that had this place */
export function requireSameLog({ tip }: News, { logId, slot }: Known): void {
  if (tip === null) throw replaced(logId, 'an empty journal');
  const found = hex(tip.tag.subarray(0, LOG_ID_BYTES));
  if (found !== logId) throw replaced(logId, found);
  if (tip.slot < slot) throw replaced(logId, `an older state of it, at slot ${tip.slot}`);
}

function replaced(expected: string, found: string): FencepostError {
  return new FencepostError(
    'LOG_REPLACED',
    `the journal holds another log: expected ${expected}, found ${found}`,
    { details: { expected, found } },
  );
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
