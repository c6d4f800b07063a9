/** Working on a queue: handlers, and the worker that calls them. */
import type { FencepostError } from '../errors.js';
import type { NoQueues } from './declared.js';
import type { Store } from './store.js';
import type { Task } from './task.js';

/** What a handler gets besides its task. */
export interface HandlerContext {
  /**
   * Aborts when the work is no longer wanted, with a typed reason: `LeaseLost` (the claim lapsed or
   * somebody else settled it), `Cancelled`, `TimedOut` (after `maxRun`), `Stopped` (the drain of
   * the worker or the store is over). Every task has a signal of its own.
   */
  readonly signal: AbortSignal;
  /** The store whose queue is worked on, with the rights of whoever called `work`. */
  readonly store: Store;
}

/**
 * Does the work of one task.
 *
 * Returning completes the task. The value is its result where the task has a `resultRetention`, and
 * is ignored where it has none; one that cannot be stored completes the task without a result, and
 * `onError` gets the reason. Throwing fails the attempt: `NonRetriable` for good, `RetryAfter` with
 * the delay it names, anything else with the backoff of the task. A handler that settles its task
 * itself (`complete`, `fail`, `release`, or a transaction) has settled it: the worker does nothing
 * more, unless that settlement was refused as `changed` or failed, which fails the attempt.
 *
 * A task may be handed out again when its claim lapsed, so work is done at least once. Give
 * `task.token` to whatever is changed outside.
 */
export type Handler<P = unknown, R = unknown, Q = NoQueues> = (
  task: Task<P, R, Q>,
  context: HandlerContext,
) => R | Promise<R>;

/** How a worker works. */
export interface WorkOptions {
  /**
   * Who claims. 1 to 255 bytes of UTF-8, not blank. Default: the host's name, `tab` or
   * `worker`, and a fresh random part, so that a restarted worker is a new owner.
   */
  owner?: string;
  /** How many handlers run at once. From 1; default 1. */
  concurrency?: number;
  /**
   * How long a claim lasts without being renewed, in milliseconds: what others wait for after this
   * worker died. From 1; default 30 000. Renewed at a third of it while the handler runs.
   */
  lease?: number;
  /**
   * How long a handler may run, in milliseconds. From 1, or `Infinity`, the default. After it the
   * signal aborts with `TimedOut`, the attempt fails with `timed out after N ms`, and the slot is
   * free, even if the handler never ends.
   */
  maxRun?: number;
  /** How many tasks to claim at once. From 1; default, and at most, as many as slots are free. */
  batch?: number;
  /**
   * Claim only while `navigator.onLine` is not false; wakes on the event `online`. What runs when
   * the connection goes runs on. Default false.
   */
  online?: boolean;
  /** Its abort is `stop()`: nothing more is claimed, running handlers finish. Default: none. */
  signal?: AbortSignal;
  /**
   * Told what no promise tells: that a claim, a renewal or a settlement failed, that a result was
   * not kept (`INVALID_ARGUMENT`, `PAYLOAD_TOO_LARGE`), and why the worker ended when it ended by
   * itself. Default: nobody is told. What it throws is ignored.
   */
  onError?: (error: FencepostError) => void;
  /**
   * Told of every attempt that fails, with what the handler threw (or `TimedOut`), before that is
   * stored: log it here. Default: nobody is told. What it throws is ignored.
   */
  onFailure?: (task: Task, error: unknown) => void;
}

/**
 * Claims tasks of one queue and runs a handler on them, until it is stopped.
 *
 * It sleeps until something is due, and is woken by what this store and others commit. While the
 * journal fails it tries again, after pauses that grow to 10 seconds. It ends by itself when going
 * on makes no sense: the log was replaced or is damaged, or the caller may not claim or settle.
 *
 * Handler, `onError` and the listeners of signals run in the async context (`AsyncLocalStorage`) of
 * the call of `work`, whoever enqueued the task. A worker keeps a Node process alive until it is
 * stopped.
 */
export interface Worker extends AsyncDisposable {
  /** How many handlers occupy a slot now. */
  readonly running: number;
  /**
   * Claims nothing more and waits for the running handlers, whose claims are renewed meanwhile.
   * Idempotent; a shorter `drain` shortens an earlier one.
   *
   * `drain`: how long to wait, milliseconds from 0, or `Infinity`, the default. When it is over,
   * signals abort with `Stopped`. What a handler then settles or releases at once counts; the other
   * tasks are given back a turn later, as after a lapse: no backoff, the attempt stays counted.
   */
  stop(options?: { drain?: number }): Promise<void>;
  /**
   * Resolves when nothing that this worker could claim is ready and no handler runs, and when the
   * worker was stopped. Tasks that are due later do not count, and neither do those that others
   * have claimed, even a process that died: `queue.drained()` waits for them.
   *
   * @throws FencepostError why the worker ended by itself
   */
  idle(): Promise<void>;
}
