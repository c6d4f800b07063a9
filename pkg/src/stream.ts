/**
 * Events on their way to one reader: filled as things happen, read when the reader comes.
 *
 * **Invariant**: bounded. A reader that is more than 65 536 events behind loses all of them to one
 * `gap`: it has to look anew anyway.
 *
 * **Invariant**: it ends once, and whoever waits for the next event then is told.
 */
import type { StoreEvent } from './types.js';

/** As many as the engine records between two merges: `EVENTS_RECORDED_MAX`. */
const EVENTS_MAX = 65_536;
const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

interface Reader {
  resolve(result: IteratorResult<StoreEvent, undefined>): void;
  reject(error: unknown): void;
}

export interface StreamParts {
  /** Somebody is going to read. May be called often. */
  onReader(): void;
  /** Somebody waits, and nothing is here. */
  onHungry(): void;
  /** No more is taken. Called once. */
  onEnd(): void;
}

export class EventStream implements AsyncIterableIterator<StoreEvent, undefined> {
  readonly #parts: StreamParts;
  #events: StoreEvent[] = [];
  #first = 0;
  #readers: Reader[] = [];
  #isEnded = false;
  #failure: { error: unknown } | null = null;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether somebody waits. */
  get isHungry(): boolean {
    return this.#readers.length > 0;
  }

  next(): Promise<IteratorResult<StoreEvent, undefined>> {
    this.#parts.onReader();
    const event = this.#shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#failure !== null) {
      const { error } = this.#failure;
      this.#failure = null;
      return Promise.reject(error);
    }
    if (this.#isEnded) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      this.#parts.onHungry();
    });
  }

  /** What `break` calls. */
  return(): Promise<IteratorResult<StoreEvent, undefined>> {
    this.drop();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    this.#parts.onReader();
    return this;
  }

  /** Takes the events of whole commands. */
  push(events: readonly StoreEvent[]): void {
    const last = events.at(-1);
    if (this.#isEnded || last === undefined) return;
    const { version, at } = last;
    const isTooMany = this.#events.length - this.#first + events.length > EVENTS_MAX;
    if (isTooMany) this.#clear();
    for (const event of isTooMany ? [{ version, at, type: 'gap' } as const] : events) {
      this.#events.push(event);
    }
    while (this.#readers.length > 0) {
      const event = this.#shift();
      if (event === undefined) break;
      this.#readers.shift()?.resolve({ done: false, value: event });
    }
  }

  /** No more comes. What is here can still be read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const readers = this.#readers;
    this.#readers = [];
    for (const { resolve } of readers) resolve(DONE);
    this.#parts.onEnd();
  }

  /** Nobody reads any more. */
  drop(): void {
    this.#clear();
    this.#failure = null;
    this.end();
  }

  /** Ends it with an error, for the first who waits or comes. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#failure = { error };
    else reader.reject(error);
    this.end();
  }

  #shift(): StoreEvent | undefined {
    const event = this.#events[this.#first];
    if (event === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#events.length) this.#clear();
    return event;
  }

  #clear(): void {
    this.#events = [];
    this.#first = 0;
  }
}
