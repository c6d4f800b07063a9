/**
 * A worker: claims tasks into free slots, runs them, sleeps until something is due.
 *
 * ```text
 *            merged, due, slot free, online, pause over
 *                 v
 *  asleep ──> consider ──something is ready──> claim ──> runs
 *     ^          │ nothing is ready               │ failed
 *     └─bell for the next due time          pause └──> asleep
 * ```
 *
 * **Invariant**: it never polls. What is merged tells what is ready and when the next task is due;
 * the journal is asked only when there is something to claim, and once at the beginning.
 *
 * **Invariant**: no slot is used twice, nothing is claimed once it is stopping, and when it has
 * ended nothing of it is left: no timer, no listener.
 */
import { onAbort } from './abort.js';
import type { Bell } from './alarm.js';
import { errorText } from './codec-error.js';
import type { RunIn } from './context.js';
import { FencepostError } from './errors.js';
import { isFatal, pauseAfter } from './failure.js';
import { type Bridge, type Moment, ROOT, type TaskReply } from './requests.js';
import { ClaimedTask, type TaskHome } from './task.js';
import { Renewals } from './tenure-renewal.js';
import type { Handler, Store, Worker } from './types.js';
import { isOnline, onOnline } from './worker-online.js';
import { readDrain, type WorkSettings } from './worker-options.js';
import { TaskRun } from './worker-run.js';

/** What one commit claims at most. */
const CLAIM_MAX = 1_000;
/** Claims in a row that found nothing although something was ready; then it pauses. */
const FUTILE_MAX = 5;
/** The pauses behind tasks that are given back grow to 1 600 ms. */
const RELEASED_MAX = 5;

export interface WorkerParts {
  readonly home: TaskHome;
  readonly store: Store;
  readonly handler: Handler;
  readonly settings: WorkSettings;
}

interface Idler {
  resolve(): void;
  reject(error: unknown): void;
}

export class QueueWorker implements Worker {
  readonly #parts: WorkerParts;
  /** In the context of whoever called `work`. */
  readonly #run: RunIn;
  readonly #runs = new Set<TaskRun>();
  readonly #renewals: Renewals;
  readonly #wakeUp: Bell;
  readonly #drainOver: Bell;
  readonly #forget: (() => void)[] = [];
  readonly #ended: Promise<void>;
  #resolveEnded!: () => void;
  #isClaiming = false;
  #isStopping = false;
  #hasEnded = false;
  /** After a failed claim: nothing is tried before the pause is over. */
  #isPausing = false;
  #failures = 0;
  /** Tasks in a row that were given back. */
  #released = 0;
  /** Until then the merged rows may be old. */
  #hasClaimed = false;
  #futile = 0;
  #drainEnds = Infinity;
  #idlers: Idler[] = [];
  #isChecking = false;
  #error: FencepostError | undefined;

  /** Begins at once. */
  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { session } = parts.home;
    const { settings } = parts;
    this.#run = session.capture();
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#renewals = new Renewals(session, this.#runs, Math.floor(settings.lease / 12));
    this.#wakeUp = session.alarm.bell('keeps the process alive', () => {
      this.#isPausing = false;
      this.#consider();
    });
    this.#drainOver = session.alarm.bell('keeps the process alive', () => this.#cutOff());
    this.#forget.push(session.follow(`queue:${parts.home.queue.text}`, () => this.#onMerged()));
    if (settings.online) this.#forget.push(onOnline(() => this.#consider()));
    this.#obey(settings.signal);
    this.#consider();
  }

  get running(): number {
    return this.#runs.size;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when nothing of it is left. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async stop(options?: { drain?: number }): Promise<void> {
    this.stopWithin(readDrain(options, Infinity));
    await this.#ended;
  }

  /** The same; when no handler runs and no claim is under way it has ended at once. */
  stopWithin(drain: number): void {
    if (this.#hasEnded) return;
    this.#isStopping = true;
    this.#wakeUp.silence();
    if (drain === 0) this.#cutOff();
    else if (drain !== Infinity) this.#shortenDrain(drain);
    this.#endIfOver();
  }

  idle(): Promise<void> {
    if (this.#hasEnded) {
      return this.#error === undefined ? Promise.resolve() : Promise.reject(this.#error);
    }
    return new Promise((resolve, reject) => {
      this.#idlers.push({ resolve, reject });
      void this.#checkIfIdle();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #obey(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const stop = () => this.stopWithin(Infinity);
    this.#forget.push(onAbort(signal, stop));
    if (signal.aborted) stop();
  }

  #onMerged(): void {
    const { failure, isOpen } = this.#parts.home.session;
    if (failure !== null) {
      this.#report(failure);
      return;
    }
    if (!isOpen) {
      this.#end(new FencepostError('STORE_CLOSED', 'the store is closed'));
      return;
    }
    if (this.#runs.size > 0) this.#tellCancelled();
    this.#consider();
  }

  #tellCancelled(): void {
    const seen = this.#parts.home.session.glance((engine) =>
      [...this.#runs].map((run) => ({ run, removal: engine.removalOf(run.task.id) })),
    );
    for (const { run, removal } of seen ?? []) {
      if (removal?.cause === 'cancelled') run.cancel(removal.reason);
    }
  }

  #consider(): void {
    this.#run(() => this.#decide());
  }

  /** Whether to claim, to sleep until a time, or to sleep until woken. */
  #decide(): void {
    void this.#checkIfIdle();
    const { settings, home } = this.#parts;
    if (this.#isStopping || this.#isClaiming || this.#isPausing) return;
    if (this.#runs.size >= settings.concurrency || (settings.online && !isOnline())) {
      this.#wakeUp.silence();
      return;
    }
    const seen = home.session.glance((engine, at) => this.#look(engine, at));
    if (!this.#hasClaimed || seen === undefined || seen.isReady) {
      void this.#claim();
      return;
    }
    this.#futile = 0;
    if (seen.due === undefined) this.#wakeUp.silence();
    else this.#wakeUp.ringAt(seen.due);
  }

  /** What the queue has, whatever the caller may inspect. */
  #look(engine: Bridge, at: Moment) {
    const due = engine.queueNextDue(this.#parts.home.queue, { ...at, caller: ROOT });
    return { due, isReady: due !== undefined && due <= at.now };
  }

  async #claim(): Promise<void> {
    this.#isClaiming = true;
    this.#wakeUp.silence();
    try {
      const replies = await this.#claimed();
      this.#hasClaimed = true;
      this.#failures = 0;
      for (const reply of replies) this.#begin(reply);
      this.#futile = replies.length === 0 ? this.#futile + 1 : 0;
      if (this.#futile > FUTILE_MAX) this.#pause();
    } catch (error) {
      this.#pause();
      this.#report(error);
    }
    this.#isClaiming = false;
    this.#endIfOver();
    this.#consider();
  }

  async #claimed(): Promise<TaskReply[]> {
    const { home, settings } = this.#parts;
    const free = settings.concurrency - this.#runs.size;
    const request = {
      queue: home.queue,
      owner: settings.owner.text,
      max: Math.min(free, settings.batch, CLAIM_MAX),
      lease: settings.lease,
    };
    const { reply } = await home.session.command((engine, at) =>
      this.#isStopping ? [] : engine.queueClaim(request, at),
    );
    return reply;
  }

  #begin(reply: TaskReply): void {
    const { home, store, handler, settings } = this.#parts;
    if (this.#isStopping) {
      // Stopped while the claim was under way: back, and the attempt does not count.
      void new ClaimedTask(home, reply).release().catch(() => undefined);
      return;
    }
    const run = new TaskRun(reply, {
      home,
      store,
      handler,
      lease: settings.lease,
      maxRun: settings.maxRun,
      run: this.#run,
      onClaimChanged: () => this.#renewals.arm(),
      onError: (error) => this.#report(error),
      onFailure: (error) => this.#tell(() => settings.onFailure?.(run.task, error)),
    });
    this.#runs.add(run);
    this.#renewals.arm();
    void run.over.then(() => {
      this.#runs.delete(run);
      this.#renewals.arm();
      this.#noteIfReleased(run);
      this.#endIfOver();
      this.#consider();
    });
  }

  /** What was given back is the next to be claimed: at once, it would go round without an end. */
  #noteIfReleased({ task, hasSettled }: TaskRun): void {
    if (hasSettled) {
      this.#released = 0;
      return;
    }
    const { session, queue } = this.#parts.home;
    const isBack = session.glance((engine, at) => {
      const row = engine.queueGet(queue, task.id, { ...at, caller: ROOT });
      return row?.state === 'ready' && row.attempt < task.attempt;
    });
    if (isBack !== true) return;
    this.#released = Math.min(this.#released + 1, RELEASED_MAX);
    this.#rest(pauseAfter(this.#released));
  }

  #pause(): void {
    this.#failures += 1;
    this.#rest(pauseAfter(this.#failures));
  }

  #rest(ms: number): void {
    this.#isPausing = true;
    if (!this.#isStopping) this.#wakeUp.ringAfter(ms);
  }

  #report(error: unknown): void {
    // What ended it is told once, whoever met it first.
    if (isFatal(error) && this.#error?.code === error.code) return;
    const told = error instanceof FencepostError ? error : unexpected(error);
    // What a listener throws, or rejects with, is its own.
    this.#tell(() => this.#parts.settings.onError?.(told));
    if (isFatal(error)) this.#end(error);
  }

  #tell(call: () => unknown): void {
    new Promise((resolve) => resolve(this.#run(call))).catch(() => undefined);
  }

  /** Ends by itself: whatever runs is cut off. */
  #end(error: FencepostError): void {
    if (this.#hasEnded || this.#error !== undefined) return;
    if (!this.#isStopping) this.#error = error;
    this.stopWithin(0);
  }

  #shortenDrain(drain: number): void {
    const at = this.#parts.home.session.clock.monotonic() + drain;
    if (at >= this.#drainEnds) return;
    this.#drainEnds = at;
    this.#drainOver.ringAfter(drain);
  }

  #cutOff(): void {
    for (const run of [...this.#runs]) run.cutOff(this.#error);
  }

  #endIfOver(): void {
    if (!this.#isStopping || this.#isClaiming || this.#runs.size > 0 || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#wakeUp.silence();
    this.#drainOver.silence();
    for (const forget of this.#forget) forget();
    this.#settleIdlers();
    this.#resolveEnded();
  }

  /** Reads what is new before it says that nothing is ready. */
  async #checkIfIdle(): Promise<void> {
    const mayBeIdle = () => this.#runs.size === 0 && !this.#isClaiming;
    if (this.#idlers.length === 0 || this.#isChecking || !mayBeIdle()) return;
    const { session } = this.#parts.home;
    this.#isChecking = true;
    try {
      const { isReady } = await session.read((engine, at) => this.#look(engine, at));
      if (!isReady && mayBeIdle()) this.#settleIdlers();
    } catch (error) {
      this.#pause();
      this.#report(error);
    }
    this.#isChecking = false;
  }

  #settleIdlers(): void {
    const idlers = this.#idlers;
    this.#idlers = [];
    for (const { resolve, reject } of idlers) {
      if (this.#error === undefined) resolve();
      else reject(this.#error);
    }
  }
}

/** What a journal throws is made typed where it is called; this is for what nobody foresaw. */
function unexpected(error: unknown): FencepostError {
  const message = errorText(error) ?? 'nothing was said';
  return new FencepostError('JOURNAL_UNAVAILABLE', message, { cause: error });
}
