/**
 * A process's way to the shared log: the journal that its store is opened on.
 *
 * `atomic` is a storage with transactions: it decides where the log is, in one step.
 * `compare and set` has only a conditional append: it reads, decides on the machine, and asks for
 * the next slot; when another writer was first it does so again.
 */
import type { Entry, Journal, News, Slot, SnapshotParts } from 'fencepost';
import type { Life } from './life.js';
import { type Base, refusal, type SharedLog } from './shared-log.js';
import type { Fault, Weather } from './weather.js';

export const FLAVOURS = ['atomic', 'compare and set'] as const;
export type Flavour = (typeof FLAVOURS)[number];

export interface Wiring {
  readonly flavour: Flavour;
  readonly log: SharedLog;
  readonly weather: Weather;
  readonly life: Life;
  /** Sends something to the log, which it reaches whatever becomes of the sender. */
  send(ms: number, arrive: () => void): void;
  /** The process ends here and now. */
  die(): void;
}

const READ_FAULTS: readonly Fault[] = ['refuse', 'lose request', 'late reply', 'die before'];
const ATOMIC_FAULTS: readonly Fault[] = [...READ_FAULTS, 'lose reply', 'die after'];
const APPEND_FAULTS: readonly Fault[] = [...ATOMIC_FAULTS, 'late request', 'twice', 'retry'];

export class Connection implements Journal {
  readonly #wiring: Wiring;
  readonly #hints = new Set<() => void>();

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  open(_name: string): Promise<News> {
    const { log } = this.#wiring;
    return this.#ask(READ_FAULTS, () => log.newsAfter(0));
  }

  commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    if (this.#wiring.flavour === 'atomic') return this.#commitAtOnce(after, decide);
    return this.#compareAndSet(after, decide);
  }

  async compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const part of parts) pieces.push(part.slice());
    const bytes = Buffer.concat(pieces);
    return this.#ask(APPEND_FAULTS, () => this.#wiring.log.compact(slot, bytes));
  }

  watch(onNews: () => void): () => void {
    const { log, life, weather } = this.#wiring;
    const tell = () => {
      if (life.isOver) log.onNews.delete(tell);
      else if (!weather.losesHint()) life.later(weather.latency(), onNews);
    };
    this.#hints.add(tell);
    log.onNews.add(tell);
    return () => {
      this.#hints.delete(tell);
      log.onNews.delete(tell);
    };
  }

  async close(): Promise<void> {
    for (const tell of this.#hints) this.#wiring.log.onNews.delete(tell);
    return this.#ask([], () => undefined);
  }

  /** The transaction runs on this machine, so it waits while the machine is frozen. */
  #commitAtOnce(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    const { log } = this.#wiring;
    return this.#ask(ATOMIC_FAULTS, () => {
      const base = log.base;
      const entry = decide(log.newsAfter(after));
      if (entry !== null) log.append(base, entry);
    });
  }

  async #compareAndSet(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    const { log } = this.#wiring;
    for (let seen = after; ; ) {
      const { news, base } = await this.#ask(READ_FAULTS, () => ({
        news: log.newsAfter(seen),
        base: log.base,
      }));
      const entry = decide(news);
      if (entry === null) return;
      const kept = { bytes: entry.bytes.slice(), tag: entry.tag.slice() };
      const isStored = await this.#ask(APPEND_FAULTS, () => log.append(base, kept), {
        again: () => this.#appendAgain(base, kept),
      });
      if (isStored) return;
      seen = base.slot;
    }
  }

  /** What a journal may conclude from a second answer when the first one was lost. */
  #appendAgain(base: Base, entry: Entry): boolean {
    const { log } = this.#wiring;
    if (log.append(base, entry)) return true;
    const isThere =
      log.base.generation === base.generation ? log.holds(base.slot + 1, entry.bytes) : undefined;
    if (isThere === undefined) throw new Error('whether the entry was stored cannot be seen');
    return isThere;
  }

  /** One request to the log and its answer. */
  #ask<T>(possible: readonly Fault[], run: () => T, retry?: { again(): T }): Promise<T> {
    const { weather, life, send, die } = this.#wiring;
    const fault = weather.draw(possible);
    return new Promise((resolve, reject) => {
      const answer = (tell: () => void) => {
        life.later(fault === 'late reply' ? weather.lateness() : weather.latency(), tell);
      };
      const fail = (what: string) => answer(() => reject(new Error(`the ${what} was lost`)));
      const arrive = () => {
        if (fault === 'die before') return die();
        const outcome = outcomeOf(run);
        if (fault === 'die after') return die();
        if (fault === 'lose reply') return fail('reply');
        if (fault === 'retry' && retry !== undefined && outcome.ok) {
          return send(weather.latency(), () => {
            const second = outcomeOf(retry.again);
            answer(() => (second.ok ? resolve(second.value) : reject(second.error)));
          });
        }
        answer(() => (outcome.ok ? resolve(outcome.value) : reject(outcome.error)));
      };
      this.#dispatch(fault, { arrive, run, fail, answer, reject });
    });
  }

  #dispatch(
    fault: Fault | null,
    call: {
      arrive(): void;
      run(): unknown;
      fail(what: string): void;
      answer(tell: () => void): void;
      reject(error: unknown): void;
    },
  ): void {
    const { weather, life, send, flavour } = this.#wiring;
    // What is decided where the log is, is decided by this machine all the same.
    const reach = flavour === 'atomic' ? (ms: number, to: () => void) => life.later(ms, to) : send;
    switch (fault) {
      case 'refuse': {
        const error = refusal('JOURNAL_UNAVAILABLE', 'the journal refuses');
        call.answer(() => call.reject(error));
        break;
      }
      case 'lose request':
        call.fail('request');
        break;
      case 'late request':
        send(weather.lateness(), () => outcomeOf(call.run));
        call.fail('connection');
        break;
      case 'twice':
        send(weather.lateness(), () => outcomeOf(call.run));
        reach(weather.latency(), call.arrive);
        break;
      default:
        reach(weather.latency(), call.arrive);
    }
  }
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    return { ok: false, error };
  }
}
