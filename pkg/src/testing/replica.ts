/**
 * A replica without an engine: it follows a journal the way the store does and checks everything it
 * is told. For the journal conformance suite.
 */

import type { Journal, News, Slot } from '../journal/journal.js';
import { joinParts } from '../parts.js';
import { isBytes } from '../realm.js';

/** Fails the running test with `what`. */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

export function expectBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  expect(isBytes(actual), `${what}: expected a Uint8Array`);
  const length = `${what}: expected ${expected.byteLength} bytes, got ${actual.byteLength}`;
  expect(actual.byteLength === expected.byteLength, length);
  const at = expected.findIndex((byte, index) => actual[index] !== byte);
  expect(at < 0, `${what}: byte ${at} is ${actual[at]}, not ${expected[at]}`);
}

/** The promise must reject with an error of this code. */
export async function expectCode(promise: Promise<unknown>, code: string): Promise<void> {
  const outcome = await promise.then(
    () => 'it resolved',
    (error: unknown) => error,
  );
  const came = typeof outcome === 'object' && outcome !== null && 'code' in outcome && outcome.code;
  expect(came === code, `expected a rejection with ${code}, got ${String(outcome)}`);
}

/** A tag for tests: 32 bytes that name a slot and a writer. */
export function tagFor(slot: Slot, writer = 0): Uint8Array {
  const tag = new Uint8Array(32).fill(0xa0 + writer);
  new DataView(tag.buffer).setUint32(0, slot);
  return tag;
}

/** Bytes for tests: any length, every byte value, different for every `seed`. */
export function patternBytes(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7 + seed * 101) & 0xff;
  return bytes;
}

/** All pieces of a snapshot, one after the other. */
export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of parts) {
    expect(isBytes(piece), 'a piece of a snapshot: expected a Uint8Array');
    pieces.push(piece);
  }
  return joinParts(pieces);
}

/** What a follower of the journal knows: entries by slot, or a snapshot in their place. */
export class Replica {
  readonly journal: Journal;
  readonly writer: number;
  /** The slot of the newest entry it merged. */
  slot: Slot = 0;
  snapshot: { slot: Slot; bytes: Uint8Array } | null = null;
  /** Slot to bytes, of everything it merged one by one. */
  readonly entries = new Map<Slot, Uint8Array>();

  constructor(journal: Journal, writer = 0) {
    this.journal = journal;
    this.writer = writer;
  }

  async open(name = 'conformance'): Promise<News> {
    const news = await this.journal.open(name);
    this.merge(news);
    await this.#read(news);
    return news;
  }

  /** Reads what is new. */
  async sync(): Promise<News> {
    let last: News | null = null;
    await this.journal.commit(this.slot, (news) => {
      last = news;
      this.merge(news);
      return null;
    });
    expect(last !== null, 'commit must call decide');
    await this.#read(last);
    return last;
  }

  async #read({ snapshot }: News): Promise<void> {
    if (snapshot === undefined) return;
    this.snapshot = { slot: snapshot.slot, bytes: await bytesOf(snapshot.parts) };
  }

  /** Stores an entry on the newest one; answers its slot. */
  async append(bytes: Uint8Array): Promise<Slot> {
    let slot = 0;
    const behind: News[] = [];
    await this.journal.commit(this.slot, (news) => {
      this.merge(news);
      behind.push(news);
      slot = this.slot + 1;
      return { bytes, tag: tagFor(slot, this.writer) };
    });
    expect(slot > 0, 'commit must call decide');
    for (const news of behind) await this.#read(news);
    return slot;
  }

  merge(news: News): void {
    if (news.snapshot !== undefined) {
      const { slot } = news.snapshot;
      expect(slot > this.slot, `a snapshot at ${slot} came to a replica that is at ${this.slot}`);
      this.slot = slot;
    }
    for (const bytes of news.entries) {
      this.slot += 1;
      this.entries.set(this.slot, bytes.slice());
    }
    const tip = news.tip?.slot ?? 0;
    expect(tip === this.slot, `the news leads to slot ${this.slot}, but the tip is slot ${tip}`);
  }
}
