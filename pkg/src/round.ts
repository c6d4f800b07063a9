/**
 * One group of pending calls on its way through the journal.
 *
 * **Invariant**: what is decided is forgotten when it is decided again, and told only when the
 * journal has the entry, or when there is none.
 */
import { FencepostError } from './errors.js';
import type { Entry } from './journal/journal.js';
import type { Pending } from './pending.js';
import type { Crash, Replica } from './replica.js';

const CRASHES_MAX = 2;

/** An entry that was given to the journal. */
export interface Sealed extends Entry {
  readonly commit: { readonly replica: number; readonly counter: number };
  /** The slot it follows on. */
  readonly base: number;
}

export class Round {
  readonly #group: readonly Pending[];
  #deciding: Pending | null = null;
  sealed: Sealed | null = null;
  /** Why deciding failed, as far as it was not the journal. */
  fault: { error: unknown } | null = null;

  constructor(group: readonly Pending[]) {
    this.#group = group;
    // The trap: what an earlier round decided, and the journal lost, is no answer in this one.
    this.begin();
  }

  get oldest(): Pending | undefined {
    return this.#group.find((pending) => !pending.isSettled);
  }

  get isSettled(): boolean {
    return this.oldest === undefined;
  }

  /** Forgets everything that was decided. */
  begin(): void {
    for (const pending of this.#group) pending.forget();
    this.#deciding = null;
    this.sealed = null;
    this.fault = null;
  }

  /** @throws Crash */
  decide(replica: Replica, now: number): Entry | null {
    for (const pending of this.#group) {
      if (!hasRoomFor(pending, replica)) break;
      this.#deciding = pending;
      if (!pending.isSettled) pending.decide(replica, now);
    }
    this.#deciding = null;
    const base = replica.slot;
    const sealed = replica.use((engine) => engine.takeEntry());
    if (sealed === undefined) return null;
    this.sealed = { ...sealed, base };
    return { bytes: sealed.bytes, tag: sealed.tag };
  }

  /** Tells what was decided. */
  settle(): void {
    for (const pending of this.#group) if (pending.isDecided) pending.settle();
  }

  /** What has to be decided in another round. */
  unfinished(): Pending[] {
    return this.#group.filter((pending) => !pending.isSettled);
  }

  reject(error: unknown): void {
    for (const pending of this.#group) pending.reject(error);
  }

  /** Rejects some. Only of a command that is in the sealed entry is it `unknown` what becomes. */
  rejectSome(
    which: (pending: Pending) => boolean,
    { unsent, unknown }: { unsent: unknown; unknown: unknown },
  ): void {
    for (const pending of this.#group) {
      if (!which(pending)) continue;
      const isSent = this.sealed !== null && pending.kind !== 'question' && pending.isDecided;
      pending.reject(isSent ? unknown : unsent);
    }
  }

  /** What becomes of the entry is not known. What is not in it can still be decided. */
  rejectSent(error: unknown): void {
    for (const pending of this.#group) {
      if (pending.kind !== 'question' && pending.isDecided) pending.reject(error);
    }
  }

  /** Nothing was stored. Questions were answered from what is. */
  rejectUnsent(error: unknown): void {
    const isAnswered = (pending: Pending) =>
      pending.isDecided && (pending.kind === 'question' || this.sealed === null);
    for (const pending of this.#group) {
      if (isAnswered(pending)) pending.settle();
      else pending.reject(error);
    }
  }

  /** The engine crashed on one of the group, or on all of it. Twice on the same one is enough. */
  blame(crash: Crash): void {
    const blamed = this.#deciding === null ? this.#group : [this.#deciding];
    for (const pending of blamed) {
      pending.crashes += 1;
      if (pending.crashes < CRASHES_MAX) continue;
      const message = `the engine crashed: ${crash.message}`;
      pending.reject(new FencepostError('ENGINE_CRASHED', message, { cause: crash.cause }));
    }
  }
}

/** Whether one more call fits into the entry. */
function hasRoomFor({ kind, isSettled }: Pending, replica: Replica): boolean {
  if (kind === 'question' || isSettled) return true;
  return replica.use((engine) =>
    kind === 'command' ? !engine.groupIsFull : engine.stagedCommands === 0,
  );
}

/**
 * The questions at the front, and the commands behind them: one look at the journal serves both.
 */
export function takeGroup(waiting: Pending[]): Pending[] {
  let size = waiting.findIndex(({ kind }) => kind !== 'question');
  if (size < 0) return waiting.splice(0);
  while (size < waiting.length && waiting[size]?.kind !== 'question') size += 1;
  return waiting.splice(0, size);
}
