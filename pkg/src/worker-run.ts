/**
 * One task in the hands of one handler, from its claim until its slot is free.
 *
 * ```text
 *  handler runs ──returns──> complete ─┬─stored or refused──> over
 *     │  │  └────throws────> fail ─────┤
 *     │  └─maxRun──> TimedOut, fail ───┘   journal fails: again, while the claim is held
 *     ├─lost or cancelled──> signal aborts; the slot is free when the handler ends
 *     └─cut off──> Stopped; a turn later what is not settled is given back ──> over
 * ```
 *
 * **Invariant**: one settlement at a time, and none that the handler does not know of: what it
 * settled by itself stays as it is.
 *
 * **Invariant**: `over` never rejects, and no error of a handler goes anywhere but into its task.
 */

import type { Bell } from './alarm.js';
import { errorText } from './codec-error.js';
import type { RunIn } from './context.js';
import { Cancelled, FencepostError, LeaseLost, Stopped, TimedOut } from './errors.js';
import { isFatal, isPassing, pauseAfter, snoozeOf, verdictOf } from './failure.js';
import { host } from './host.js';
import type { TaskReply } from './requests.js';
import type { TaskHome } from './task.js';
import { Tenure } from './tenure.js';
import { nextTurn } from './turn.js';
import type { Handler, Store } from './types.js';
import { type Settlement, WorkedTask } from './worker-task.js';

/** What a run needs of its worker. */
export interface RunParts {
  readonly home: TaskHome;
  readonly store: Store;
  readonly handler: Handler;
  readonly lease: number;
  readonly maxRun: number;
  /** In the context of whoever called `work`. */
  readonly run: RunIn;
  /** The claim's deadline, or whether it is held, changed. */
  readonly onClaimChanged: () => void;
  /** The journal failed, a result was not kept; or, when it is fatal, the worker has to end. */
  readonly onError: (error: unknown) => void;
  /** The attempt failed. */
  readonly onFailure: (error: unknown) => void;
}

type Outcome =
  | { kind: 'returned'; value: unknown }
  | { kind: 'threw'; error: unknown }
  | { kind: 'timed out' }
  | { kind: 'cut off' };

export class TaskRun {
  readonly task: WorkedTask;
  /** What keeps the claim. */
  readonly tenure: Tenure;
  /** Resolves when the slot is free. */
  readonly over: Promise<void>;
  readonly #parts: RunParts;
  readonly #abort = new (host('AbortController'))();
  readonly #maxRun: Bell;
  readonly #keepsResult: boolean;
  /** Ends the wait for the handler. */
  #end!: (outcome: Outcome) => void;
  /** Whether the worker settled it, and not the handler, or somebody else. */
  hasSettled = false;
  #isCutOff = false;
  /** Lost, cancelled or timed out: what the handler does from now on does not count. */
  #isGivenUp = false;
  #wakeFromPause: (() => void) | null = null;

  constructor(reply: TaskReply, parts: RunParts) {
    this.#parts = parts;
    this.#keepsResult = reply.resultRetention > 0;
    this.task = new WorkedTask(parts.home, reply, (refusal) => this.#onChange(refusal));
    this.tenure = this.#keepClaim();
    this.#maxRun = parts.home.session.alarm.bell('keeps the process alive', () =>
      this.#end({ kind: 'timed out' }),
    );
    if (parts.maxRun !== Infinity) this.#maxRun.ringAfter(parts.maxRun);
    this.over = this.#run();
  }

  /** Whether the task was cancelled since, and why. */
  cancel(reason: string | undefined): void {
    if (this.task.isSettling) return;
    const { id } = this.task;
    const why = reason === undefined ? '' : `: ${reason}`;
    this.#giveUp(new Cancelled(`task ${id} was cancelled${why}`, { details: { id, reason } }));
  }

  /** Aborts the signal and waits no longer. Idempotent. */
  cutOff(cause?: FencepostError): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    this.#abortWith(new Stopped(undefined, cause && { cause }));
    this.#end({ kind: 'cut off' });
    this.#wakeFromPause?.();
  }

  #abortWith(reason: FencepostError): void {
    this.#parts.run(() => this.#abort.abort(reason));
  }

  async #run(): Promise<void> {
    const cutOff = new Promise<Outcome>((resolve) => {
      this.#end = resolve;
    });
    // A turn later, so that whoever made this run knows it before its handler does anything.
    await null;
    const outcome = await (this.#isCutOff ? cutOff : Promise.race([this.#handle(), cutOff]));
    this.#maxRun.silence();
    try {
      await this.#settle(outcome);
    } catch (error) {
      this.#parts.onError(error);
    }
    this.task.isSettling = true;
    this.#parts.onClaimChanged();
  }

  async #handle(): Promise<Outcome> {
    const { signal } = this.#abort;
    try {
      const { handler, store, run } = this.#parts;
      return { kind: 'returned', value: await run(() => handler(this.task, { signal, store })) };
    } catch (error) {
      return { kind: 'threw', error };
    }
  }

  async #settle(outcome: Outcome): Promise<void> {
    if (outcome.kind === 'cut off') return this.#giveBack();
    if (this.#isGivenUp) return;
    if (outcome.kind === 'timed out') this.#timeOut();
    const own = await this.task.settlement;
    if (own !== null && own.kind !== 'failed') return;
    if (outcome.kind === 'threw') return this.#fail(outcome.error);
    if (outcome.kind === 'timed out') return this.#fail(this.#abort.signal.reason);
    if (own !== null) return this.#fail(own.error);
    const settled = await this.#complete(outcome.value);
    this.hasSettled = settled.kind === 'settled';
    if (settled.kind === 'failed') await this.#fail(settled.error);
  }

  /** The work is done: what cannot be kept of its result must not make it be done again. */
  async #complete(result: unknown): Promise<Settlement> {
    if (result !== undefined && this.#keepsResult) {
      const settled = await this.#insist(() => this.task.complete(result));
      if (settled.kind !== 'failed') return settled;
      this.#parts.onError(notKept(this.task.id, settled.error));
    }
    return this.#insist(() => this.task.complete());
  }

  #timeOut(): void {
    // Not given up: the claim is held until the failure is stored.
    this.#abortWith(new TimedOut(`timed out after ${this.#parts.maxRun} ms`));
  }

  async #fail(error: unknown): Promise<void> {
    const [verdict, delay] = [verdictOf(error), snoozeOf(error)];
    // What is put off has not failed.
    if (delay === undefined) this.#parts.onFailure(error);
    const settled = await this.#insist(() =>
      delay === undefined ? this.task.fail(error, verdict) : this.task.release({ delay }),
    );
    this.hasSettled = settled.kind === 'settled';
    // What cannot even be failed lapses.
    if (settled.kind === 'failed') this.#parts.onError(settled.error);
  }

  /** Settles, again and again while the journal fails, until it is settled or cut off. */
  async #insist(settle: () => Promise<unknown>): Promise<Settlement> {
    for (let failures = 1; ; failures += 1) {
      void settle();
      const settled = await this.task.settlement;
      if (settled === null) throw new Error('a settlement that was begun is known');
      if (settled.kind === 'over' && isLapsed(settled.reason)) {
        this.#lose(`its settlement was refused: ${settled.reason}`);
      }
      if (settled.kind !== 'failed') return settled;
      if (isFatal(settled.error)) throw settled.error;
      if (!isPassing(settled.error)) return settled;
      this.#parts.onError(settled.error);
      if (!this.#isOver) await this.#pause(pauseAfter(failures));
      if (this.#isOver) return { kind: 'over', reason: 'nobody waits for it any more' };
    }
  }

  /** As after a lapse: no backoff, the attempt stays counted. */
  async #giveBack(): Promise<void> {
    await nextTurn();
    const own = await this.task.settlement;
    if (own !== null && own.kind !== 'failed') return;
    this.task.isSettling = true;
    const { session, queue } = this.#parts.home;
    const { id, token } = this.task;
    const abandoning = session.command((engine, at) =>
      engine.queueAbandon({ queue, id, token }, at),
    );
    // Should this fail, it lapses.
    await abandoning.catch(() => undefined);
  }

  /** Whether what comes of the task is no longer this run's to say. */
  get #isOver(): boolean {
    return this.#isCutOff || this.#isGivenUp;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        bell.silence();
        this.#wakeFromPause = null;
        resolve();
      };
      const bell = this.#parts.home.session.alarm.bell('keeps the process alive', wake);
      this.#wakeFromPause = wake;
      bell.ringAfter(ms);
    });
  }

  #keepClaim(): Tenure {
    const { home, lease, onError, onClaimChanged } = this.#parts;
    return new Tenure({
      // The millisecond of the deadline is still the claim's.
      length: lease + 1,
      ends: () => this.task.deadline + 1,
      isWanted: () => !(this.task.isSettling || this.#isGivenUp || this.#isCutOff),
      now: () => home.session.clock.now(),
      renew: () => this.task.heartbeat({ extend: lease }),
      onLapse: () => this.#lose('it lapsed before it was renewed'),
      onError,
      onChange: onClaimChanged,
    });
  }

  #onChange(refusal: string | undefined): void {
    if (refusal === undefined) {
      this.#parts.onClaimChanged();
    } else if (!this.task.isSettling) {
      const { id } = this.task;
      const removal = this.#parts.home.session.glance((engine) => engine.removalOf(id));
      if (removal?.cause === 'cancelled') this.cancel(removal.reason);
      else if (isLapsed(refusal)) this.#lose(`a renewal was refused: ${refusal}`);
      else this.#rest();
    }
  }

  /** Somebody settled it, perhaps the handler in a transaction: nothing is left to be kept. */
  #rest(): void {
    this.task.isSettling = true;
    this.#parts.onClaimChanged();
  }

  #lose(how: string): void {
    this.#giveUp(new LeaseLost(`the claim of task ${this.task.id} is no longer held: ${how}`));
  }

  #giveUp(reason: FencepostError): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#wakeFromPause?.();
    this.#abortWith(reason);
    this.#parts.onClaimChanged();
  }
}

/** A codec may throw anything. */
function notKept(id: number, cause: unknown): FencepostError {
  const isTooLarge = cause instanceof FencepostError && cause.code === 'PAYLOAD_TOO_LARGE';
  const code = isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'INVALID_ARGUMENT';
  const message = `task ${id} is done without its result: ${errorText(cause)}`;
  return new FencepostError(code, message, { cause, details: { id, argument: 'result' } });
}

/** Whether the claim was lost. Otherwise somebody settled the task while it was held. */
function isLapsed(refusal: string): boolean {
  return refusal === 'expired' || refusal === 'fenced';
}
