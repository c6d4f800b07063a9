/**
 * A journal that fails on demand: what a network, a quota or a sleeping tab do to a real one.
 *
 * Faults are planned in the order of the calls, so a test says exactly what goes wrong; for random
 * plans give a `choose` that draws from a seeded generator.
 *
 * ```ts
 * const journal = faulty(memory())
 * const store = await open('test', { journal })
 * journal.plan('commit', 'lose-reply')
 * await queue.enqueue('once')              // stored, unclear, found again by its commit id
 * ```
 */
import { FencepostError } from '../errors.js';
import type {
  Entry,
  Journal,
  JournalOptions,
  News,
  Slot,
  SnapshotParts,
} from '../journal/journal.js';

/** The calls that can fail. */
export type Operation = 'open' | 'commit' | 'compact';

/**
 * - `refuse`: nothing is sent, `JOURNAL_UNAVAILABLE` with `details.stored: false`
 * - `full`: nothing is sent, `JOURNAL_FULL` with `details.stored: false`
 * - `lose-request`: nothing is sent, and the error does not tell
 * - `lose-reply`: it is done, and the error does not tell
 * - `outrun`: another writer is first: `decide` is asked, its answer is thrown away, and it is
 *   asked again with what is new since
 * - `hold-request`: it is sent when `release()` is called
 * - `hold-reply`: it is done at once, and told when `release()` is called
 */
export type Fault =
  | 'refuse'
  | 'full'
  | 'lose-request'
  | 'lose-reply'
  | 'outrun'
  | 'hold-request'
  | 'hold-reply';

export interface FaultyOptions {
  /** Asked for every call that no plan covers. `call` counts the calls of that operation from 1. */
  choose?(operation: Operation, call: number): Fault | null;
}

export interface FaultyJournal extends Journal {
  /** The next calls of `operation` that are not planned yet fail like this, in this order. */
  plan(operation: Operation, ...faults: Fault[]): void;
  /** Lets everything go on that is held. */
  release(): void;
  /** How many calls are held now. */
  readonly held: number;
}

/** Wraps a journal. Without plans and `choose` it behaves as the one inside. */
export function faulty(inner: Journal, options: FaultyOptions = {}): FaultyJournal {
  return new Faulty(inner, options);
}

class Faulty implements FaultyJournal {
  readonly #inner: Journal;
  readonly #options: FaultyOptions;
  readonly #plans: Record<Operation, Fault[]> = { open: [], commit: [], compact: [] };
  readonly #calls: Record<Operation, number> = { open: 0, commit: 0, compact: 0 };
  #waiting: (() => void)[] = [];
  readonly watch?: (onNews: () => void) => () => void;
  readonly now?: () => number;

  constructor(inner: Journal, options: FaultyOptions) {
    this.#inner = inner;
    this.#options = options;
    // Absent in the inner journal is absent here.
    if (inner.watch) this.watch = (onNews) => inner.watch?.(onNews) ?? (() => undefined);
    if (inner.now) this.now = () => inner.now?.() ?? 0;
  }

  plan(operation: Operation, ...faults: Fault[]): void {
    this.#plans[operation].push(...faults);
  }

  release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  get held(): number {
    return this.#waiting.length;
  }

  open(name: string, options?: JournalOptions): Promise<News> {
    return this.#run('open', this.#next('open'), () => this.#inner.open(name, options));
  }

  commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    const fault = this.#next('commit');
    const send =
      fault === 'outrun'
        ? () => this.#outrun(after, decide)
        : () => this.#inner.commit(after, decide);
    return this.#run('commit', fault, send);
  }

  compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    return this.#run('compact', this.#next('compact'), () => this.#inner.compact(slot, parts));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #next(operation: Operation): Fault | null {
    this.#calls[operation] += 1;
    const planned = this.#plans[operation].shift();
    return planned ?? this.#options.choose?.(operation, this.#calls[operation]) ?? null;
  }

  async #run<T>(operation: Operation, fault: Fault | null, send: () => Promise<T>): Promise<T> {
    if (fault === 'refuse') throw refusal('JOURNAL_UNAVAILABLE', operation);
    if (fault === 'full') throw refusal('JOURNAL_FULL', operation);
    if (fault === 'lose-request') throw new Error(`the request to ${operation} was lost`);
    if (fault === 'hold-request') await this.#hold();
    const reply = await send();
    if (fault === 'hold-reply') await this.#hold();
    if (fault === 'lose-reply') throw new Error(`the reply of ${operation} was lost`);
    return reply;
  }

  async #outrun(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    let seen = after;
    await this.#inner.commit(after, (news) => {
      decide(news);
      seen = news.tip?.slot ?? after;
      return null;
    });
    await this.#inner.commit(seen, decide);
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

function refusal(code: 'JOURNAL_UNAVAILABLE' | 'JOURNAL_FULL', operation: Operation): Error {
  return new FencepostError(code, `planned fault: ${operation} was refused`, {
    details: { stored: false },
  });
}
