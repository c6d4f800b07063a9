/**
 * Whether every task ended as it did for the right reason: what the events tell is compared with
 * what the handlers did, task by task, and in the end with the rows.
 */
import { FencepostError, type StoreEvent, type TaskRecord } from 'fencepost';
import { type Book, RUN_MS_MAX, type Run } from './chaos-handlers.js';
import { isAbandoned, type Owners } from './chaos-owners.js';

export type End = 'done' | 'exhausted' | 'failed' | 'expired' | 'cancelled';

interface Story {
  readonly enqueuedAt: number;
  /** Attempts that count. */
  attempts: number;
  /** Not before that may it be claimed. */
  notBefore: number;
  /** The newest claim. */
  token: number | undefined;
  end: End | null;
  /** What the row has to say: the result, or the last error. */
  words: string | null;
}

export interface CausesParts {
  readonly owners: Owners;
  readonly book: Book;
  readonly maxAttempts: number;
  /** When a task expires, counted from its enqueue; by its key. */
  expiresIn(key: string): number;
}

export class Causes {
  readonly complaints: string[] = [];
  readonly ends: Record<End, number> = {
    done: 0,
    exhausted: 0,
    failed: 0,
    expired: 0,
    cancelled: 0,
  };
  /** Why tasks were cancelled, as the log tells. */
  readonly cancelled = new Map<number, string | undefined>();
  readonly #parts: CausesParts;
  readonly #stories = new Map<number, Story>();
  /** Attempts that ran when their task was cancelled. */
  readonly #toBeTold: Run[] = [];
  #ended = 0;

  constructor(parts: CausesParts) {
    this.#parts = parts;
  }

  /** How many tasks have ended. */
  get ended(): number {
    return this.#ended;
  }

  /** An event that `owners` has not taken yet. */
  take(event: StoreEvent): void {
    const { type, id, at } = event;
    if (id === undefined) return;
    if (type === 'enqueued') {
      const story = { enqueuedAt: at, attempts: 0, notBefore: at, token: undefined };
      if (this.#stories.has(id)) this.#complain('is made twice', event);
      this.#stories.set(id, { ...story, end: null, words: null });
      return;
    }
    const story = this.#stories.get(id);
    // One that has ended may still be cancelled: its row goes away.
    const mayGoOn = story?.end === null || (type === 'cancelled' && story?.end !== 'cancelled');
    if (story === undefined || !mayGoOn) {
      this.#complain('goes on without a beginning or after its end', event);
      return;
    }
    const run = this.#parts.book.get(event.token ?? 0);
    if (type === 'claimed') this.#claimed(story, event);
    if (type === 'completed') this.#completed(story, run, event);
    if (type === 'retried') this.#retried(story, run, event);
    if (type === 'released') this.#released(story, run, event);
    if (type === 'dead') this.#died(story, run, event);
    if (type === 'cancelled') this.#wasCancelled(story, run, event);
  }

  /** What is there in the end, and that whoever ran a cancelled task was told. */
  requireRows(rows: ReadonlyMap<number, TaskRecord>): void {
    for (const [id, story] of this.#stories) {
      const row = rows.get(id);
      const said = row?.state === 'done' ? row.result : row?.lastError;
      const is = row && [row.deadReason ?? row.state, row.attempt, said];
      const isGone = story.end === 'cancelled';
      const should = isGone ? undefined : [story.end, story.attempts, story.words];
      if (JSON.stringify(is) === JSON.stringify(should)) continue;
      this.complaints.push(`task ${id} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`);
    }
    for (const { id, signal, ending } of this.#toBeTold) {
      // One that came to its end first need not be told.
      if (signal.aborted || ending !== null) continue;
      this.complaints.push(`whoever ran ${id} was not told of its cancellation`);
    }
  }

  #claimed(story: Story, event: StoreEvent): void {
    story.attempts += 1;
    story.token = event.token;
    if (event.at < story.notBefore) this.#complain('is tried again too early', event);
    if (story.attempts > this.#parts.maxAttempts) this.#complain('is tried too often', event);
  }

  #completed(story: Story, run: Run | undefined, event: StoreEvent): void {
    if (run?.ending !== 'complete') this.#complain('was completed by nobody', event);
    this.#end(story, 'done', run?.words ?? null);
  }

  #retried(story: Story, run: Run | undefined, event: StoreEvent): void {
    const failure = failureOf(run);
    if (failure === null && codeOf(run) !== 'STOPPED')
      this.#complain('was failed by nobody', event);
    if (failure !== null) story.notBefore = event.at + (run?.delay ?? 0);
  }

  #released(story: Story, run: Run | undefined, event: StoreEvent): void {
    if (isAbandoned(event)) {
      if (codeOf(run) !== 'STOPPED') this.#complain('was abandoned by nobody', event);
      return;
    }
    // A worker that is stopped gives back what it claimed and never began.
    const isUnrun = run === undefined;
    if (!isUnrun && run.ending !== 'release') this.#complain('was released by nobody', event);
    story.attempts -= 1;
  }

  #died(story: Story, run: Run | undefined, event: StoreEvent): void {
    const { owners, maxAttempts, expiresIn } = this.#parts;
    const byOwner = owners.isHeld(event) && event.reason !== 'expired';
    if (event.reason === 'failed') {
      if (run?.ending !== 'bury') this.#complain('was buried by nobody', event);
      this.#end(story, 'failed', run?.words ?? null);
    } else if (event.reason === 'expired') {
      const expiresAt = story.enqueuedAt + expiresIn(event.key ?? '');
      if (event.at < expiresAt) this.#complain('is not expired', event);
      this.#end(story, 'expired', 'expired');
    } else {
      if (story.attempts < maxAttempts) this.#complain('has attempts left', event);
      if (byOwner && failureOf(run) === null) this.#complain('was failed by nobody', event);
      this.#end(story, 'exhausted', byOwner ? failureOf(run) : 'max attempts exceeded');
    }
  }

  #wasCancelled(story: Story, run: Run | undefined, event: StoreEvent): void {
    this.cancelled.set(event.id ?? 0, event.reason);
    const isRunning = run !== undefined && run.ending === null;
    if (isRunning && this.#parts.owners.isHeld(event)) this.#toBeTold.push(run);
    this.#end(story, 'cancelled', null);
  }

  #end(story: Story, end: End, words: string | null): void {
    if (story.end === null) this.#ended += 1;
    else this.ends[story.end] -= 1;
    this.ends[end] += 1;
    story.end = end;
    story.words = words;
  }

  #complain(what: string, event: StoreEvent): void {
    const run = this.#parts.book.get(event.token ?? 0);
    const did = JSON.stringify({ ...run, signal: codeOf(run) });
    this.complaints.push(`task ${event.id} ${what}: ${JSON.stringify(event)}, its handler: ${did}`);
  }
}

/** Why the signal of an attempt aborted. */
export function codeOf(run: Run | undefined): string | null {
  const reason: unknown = run?.signal.aborted === true ? run.signal.reason : null;
  return reason instanceof FencepostError ? reason.code : null;
}

/** With which words an attempt fails that may be tried again; null when nobody failed it. */
function failureOf(run: Run | undefined): string | null {
  if (codeOf(run) === 'TIMED_OUT') return `timed out after ${RUN_MS_MAX} ms`;
  return run?.ending === 'retry' ? run.words : null;
}
