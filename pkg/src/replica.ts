/**
 * The engine of an open store, kept level with its journal.
 *
 * **Invariant**: it merges only what follows on what it merged last, of the same log: the tip that
 * the journal names must be exactly the slot and tag it arrives at. Otherwise the log was
 * replaced, and nothing is appended.
 *
 * **Invariant**: an engine that has merged something is never filled anew: what begins with a
 * snapshot goes into another one, which then takes its place.
 *
 * **Invariant**: a crashed engine is never called again, not even to free it. A new one starts
 * empty and gets everything from the journal: the state is a cache.
 */
import { Copies } from './copy.js';
import { FencepostError } from './errors.js';
import { Feed, type Listener } from './feed.js';
import type { Entry, News, Slot } from './journal/journal.js';
import { load } from './loading.js';
import { messageOf } from './realm.js';
import { hex } from './records.js';
import type { Bridge, CallerRequest } from './requests.js';
import type { Touched } from './wakes.js';

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
  /** Null when its memory was given back. */
  #engine: Bridge | null;
  #usable = true;
  readonly copies: Copies;
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
    this.copies = new Copies(this);
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
    const engine = this.#engine;
    if (!this.#usable || engine === null) throw new Crash('the engine crashed before');
    return this.#guard(engine, () => call(engine));
  }

  #guard<T>(engine: Bridge, call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof FencepostError) throw error;
      this.#usable = false;
      throw error instanceof Crash ? error : new Crash(lastWords(engine, error), { cause: error });
    }
  }

  /**
   * Replaces a crashed engine by an empty one.
   *
   * @throws Crash when there is no memory for it
   */
  rebuild(): void {
    if (this.#usable) return;
    // Before there is a new one: two may be more than there is memory for.
    this.#engine = null;
    this.#engine = this.#made();
    this.#callers = new Map();
    this.#usable = true;
    this.entryBytes = 0;
    this.use((made) => {
      this.#feed.adopt(made, this.#version);
      this.#feed.adopted(made);
    });
  }

  #made(): Bridge {
    try {
      return this.#create();
    } catch (error) {
      throw new Crash('a new engine could not be made', { cause: error });
    }
  }

  /** Another engine, empty, that whoever asked for it owns. */
  createEngine(): Bridge {
    return this.#create();
  }

  /** Gives the memory back: handles that live on do not keep it. */
  free(): void {
    if (this.#usable) this.#engine?.free();
    this.#usable = false;
    this.#engine = null;
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

  /** What was merged since the call before; null when that cannot be told. */
  touched(): Touched | null {
    if (!this.#usable) return null;
    try {
      return this.use((engine) => engine.touched());
    } catch {
      // A crash: whoever asks next rebuilds the engine.
      return null;
    }
  }

  forget(caller: CallerRequest): void {
    const number = this.#callers.get(caller);
    this.#callers.delete(caller);
    if (number !== undefined && this.#usable) this.use((engine) => engine.removeCaller(number));
  }

  /** Tells of what is merged from here on. Returns the way to stop it. */
  listen(listener: Listener): () => void {
    const engine = () => (this.#usable ? (this.#engine ?? undefined) : undefined);
    this.#feed.add(listener, engine());
    return () => this.#feed.remove(listener, engine());
  }

  /** Drops what is staged or sealed: it was not stored, or is merged by now. */
  forgetProposal(): void {
    if (this.#usable) this.use((engine) => engine.discard());
  }

  /** Drops what is staged and merges what is new, which does not begin with a snapshot. */
  accept(news: News): void {
    if (this.#known !== null) requireSameLog(news, this.#known);
    this.use((engine) => {
      engine.discard();
      for (const entry of news.entries) {
        engine.merge(entry);
        this.entryBytes += entry.byteLength;
      }
      this.#requireTip(engine, news);
    });
    this.#noteWhere();
  }

  /**
   * Takes over what is new, which begins with a snapshot or is all there is, in steps. The present
   * engine answers until another one is filled.
   */
  async load(news: News): Promise<void> {
    if (this.#known !== null) requireSameLog(news, this.#known);
    const old = this.#engine;
    const isEmpty = this.#known === null && this.#usable && old !== null;
    const engine = isEmpty ? old : this.#made();
    const use = <T>(call: () => T) => this.#guard(engine, call);
    try {
      // One that opens replaces nobody, so nobody was told of anything.
      if (!isEmpty) use(() => this.#feed.adopt(engine, this.#version));
      const { snapshotBytes, entryBytes } = await load(engine, news, use);
      use(() => this.#requireTip(engine, news));
      if (this.#engine === null && old !== null) throw new Crash('the store was closed');
      this.#replace(engine);
      this.snapshotBytes = snapshotBytes;
      this.entryBytes = entryBytes;
    } catch (error) {
      // What is half filled is of no use, and what has crashed is not called again.
      if (isEmpty) this.#usable = false;
      else if (!(error instanceof Crash)) engine.free();
      throw error;
    }
    this.#noteWhere();
  }

  #replace(engine: Bridge): void {
    const old = this.#engine;
    if (engine !== old) {
      if (this.#usable) old?.free();
      this.#engine = engine;
      this.#callers = new Map();
      this.#usable = true;
    }
    this.use((made) => this.#feed.adopted(made));
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
    this.use((engine) => {
      const { slot, logId, version } = engine;
      if (slot > 0) this.#known = { slot, logId };
      this.#version = version;
      this.#feed.tell(engine, version, (caller) => this.numberOf(caller));
    });
  }

  #requireTip({ slot, tag }: Bridge, { tip }: News): void {
    const expected = tip ?? { slot: 0, tag };
    if (slot === expected.slot && sameBytes(tag, expected.tag)) return;
    if (slot === this.#known?.slot) throw replaced(this.logId, 'a fork of it');
    const what = `its newest entry is slot ${expected.slot}, but what it gave ends at slot ${slot}`;
    throw new FencepostError('JOURNAL_CORRUPT', `the journal is damaged: ${what}`);
  }
}

/** What a crash is to whoever has called the package. */
export function crashed(error: unknown): FencepostError {
  const message = messageOf(error);
  return new FencepostError('ENGINE_CRASHED', `the engine crashed: ${message}`, { cause: error });
}

function lastWords(engine: Bridge, error: unknown): string {
  return engine.crashMessage ?? messageOf(error);
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
