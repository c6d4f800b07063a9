/**
 * One question or command that waits for its answer.
 *
 * **Invariant**: it is settled once. What is settled is not decided any more: a command that was
 * told it failed must not be stored afterwards.
 */
import type { CallSite } from './call-site.js';
import { FencepostError } from './errors.js';
import type { Replica } from './replica.js';
import type { Bridge, CallerRequest, Moment } from './requests.js';

/**
 * A command may stage rows, a lone one only where nothing is staged before it; a question looks at
 * what is merged.
 */
export type Kind = 'command' | 'lone command' | 'question';

/** What is to be done with the engine. Synchronous; may be called again from the start. */
export type Decide<T> = (engine: Bridge, at: Moment) => T;

/** An answer, and the version of the store behind it. */
export interface Answer<T> {
  reply: T;
  version: number;
}

type Outcome = { ok: true; reply: unknown } | { ok: false; error: unknown };

export class Pending {
  readonly kind: Kind;
  /** When it was asked, on the monotonic clock. */
  readonly since: number;
  readonly promise: Promise<Answer<unknown>>;
  readonly #caller: CallerRequest | undefined;
  readonly #decide: Decide<unknown>;
  readonly #site: CallSite;
  #resolve!: (answer: Answer<unknown>) => void;
  #reject!: (error: unknown) => void;
  #outcome: Outcome | null = null;
  #version = 0;
  isSettled = false;
  /** How many times the engine crashed on it. */
  crashes = 0;

  constructor(
    kind: Kind,
    decide: Decide<unknown>,
    caller: CallerRequest | undefined,
    { site, since }: { site: CallSite; since: number },
  ) {
    this.kind = kind;
    this.since = since;
    this.#caller = caller;
    this.#decide = decide;
    this.#site = site;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether it knows what to answer, once the journal agrees. */
  get isDecided(): boolean {
    return this.#outcome !== null;
  }

  forget(): void {
    this.#outcome = null;
  }

  /**
   * Asks the engine. An error of the call is its outcome and takes nothing else with it.
   *
   * @throws Crash
   */
  decide(replica: Replica, now: number): void {
    try {
      const at = { now, caller: replica.numberOf(this.#caller) };
      const reply = replica.use((engine) => this.#decide(engine, at));
      this.#outcome = { ok: true, reply };
    } catch (error) {
      if (!(error instanceof FencepostError)) throw error;
      this.#outcome = { ok: false, error };
    }
    this.#version = replica.version + replica.use((engine) => engine.stagedCommands);
  }

  /** Tells what was decided. */
  settle(): void {
    const outcome = this.#outcome;
    if (outcome === null) throw new Error('only what was decided is settled');
    if (this.isSettled) return;
    if (outcome.ok) {
      this.isSettled = true;
      this.#resolve({ reply: outcome.reply, version: this.#version });
    } else {
      this.reject(outcome.error);
    }
  }

  reject(error: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#reject(this.#site.adopt(error));
  }
}
