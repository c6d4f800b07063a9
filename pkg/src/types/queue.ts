/** Queues, and what they put on the tasks they enqueue. */
import type { Page } from './answers.js';
import type { NoQueues } from './declared.js';
import type { Write } from './kv.js';
import type {
  ClaimHolder,
  Enqueued,
  Explanation,
  Task,
  TaskCounts,
  TaskRecord,
  TaskState,
} from './task.js';
import type { Handler, Worker, WorkOptions } from './worker.js';

/** How a drawn delay spreads below its cap: over the upper half, over all of it, or not at all. */
export type Jitter = 'equal' | 'full' | 'none';

/** The delays between attempts: `min(base * 2^(attempt - 1), max)`, jittered. */
export interface Backoff {
  /** Milliseconds, from 0. Default 5 000. */
  base?: number;
  /** Milliseconds, from 0; a smaller one than `base` wins. Default 3 600 000. */
  max?: number;
  /** Default `equal`. */
  jitter?: Jitter;
}

/** What is resolved at enqueue and stays on the task. */
export interface Stamps {
  /** How long a claim lasts: milliseconds, from 0. Default 300 000. */
  lease?: number;
  /** From 1. Default 3. */
  maxAttempts?: number;
  backoff?: Backoff;
  /** How long a dead task is kept: milliseconds, from 0. Default `Infinity`. */
  deadRetention?: number;
  /** How long a completed task and its result are kept. Default 0: it is removed. */
  resultRetention?: number;
  /** How long the key of a completed task stays taken. Default 86 400 000. */
  keyRetention?: number;
}

/**
 * Turns payloads and results into bytes and back. Rows carry the codec's name, and reading one with
 * another codec is `INVALID_ARGUMENT`.
 */
export interface Codec {
  /** Default `custom`: 1 to 255 bytes of UTF-8. `json` is the built-in one. */
  readonly name?: string;
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** Belongs to the handle: two handles of one queue may stamp differently. */
export interface QueueOptions extends Stamps {
  /**
   * Default: JSON, which refuses whatever it would change but for two things: properties that are
   * undefined are left out, and -0 becomes 0.
   */
  codec?: Codec;
}

export interface EnqueueOptions extends Stamps {
  /** Milliseconds from now; negative means 0. Wins over `runAt`. */
  delay?: number;
  /** When it is due. One in the past is kept as it is and decides the order. Default: now. */
  runAt?: number | Date;
  /** Higher first. Default 0; -(2^53 - 1) to 2^53 - 1. */
  priority?: number;
  /** Idempotency key, 1 to 1 024 bytes: a live task with it is returned instead of a new one. */
  key?: string;
  /** Not worth running this many milliseconds from now. From 1. Default: always worth it. */
  expiresIn?: number;
  /** Key-value writes in the same commit. Default: none. */
  writes?: Write[];
}

/** A named queue. The handle holds options, not state: make as many as you like. */
export interface Queue<P = unknown, R = unknown, Q = NoQueues> {
  readonly name: string;
  /**
   * Adds a task, or finds the one that holds the key.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME`, `PAYLOAD_TOO_LARGE`,
   * `CHECK_FAILED` when a `check` among the writes does not hold
   *
   * ```ts
   * const { id, created } = await store.queue('mail').enqueue({ to: 'a' }, { key: 'welcome-a' })
   * ```
   */
  enqueue(payload: P, options?: EnqueueOptions): Promise<Enqueued>;
  /** One commit, all or nothing. At most 10 000. */
  enqueueMany(items: { payload: P; options?: EnqueueOptions }[]): Promise<Enqueued[]>;
  /**
   * Claims up to `max` tasks in order: priority, due time, sequence.
   *
   * `max`: default 1; at most 1 000 and 16 MiB are given, 0 and less give none. `lease`:
   * milliseconds, from 0; default: each task's own stamp.
   */
  claim(owner: string, options?: { max?: number; lease?: number }): Promise<Task<P, R, Q>[]>;
  /** The Task of a claim that is still current: after a restart, or handed over. Else null. */
  adopt(id: number, token: number): Promise<Task<P, R, Q> | null>;
  /** Completes what is still held; tells how many that were. One commit, at most 10 000. */
  completeMany(tasks: readonly ClaimHolder[]): Promise<number>;
  /** Dead and done tasks too; null for an unknown id. */
  get(id: number): Promise<TaskRecord<P, R> | null>;
  /**
   * The task that takes the idempotency key, as long as its row is there; null when the key is
   * free, or kept for a task that is gone.
   *
   * @throws FencepostError `INVALID_NAME`, `PERMISSION_DENIED` without `inspect`
   *
   * ```ts
   * const running = await queue.byKey('import-7')
   * ```
   */
  byKey(key: string): Promise<TaskRecord<P, R> | null>;
  /**
   * In id order, the oldest first (`asc`, the default) or the newest (`desc`). `limit`: default
   * 100, at most 1 000 and 16 MiB; 0 is an empty page. A cursor goes on where its page ended.
   */
  list(options?: {
    state?: TaskState;
    order?: 'asc' | 'desc';
    cursor?: string;
    limit?: number;
  }): Promise<Page<TaskRecord<P, R>>>;
  counts(): Promise<TaskCounts>;
  /** Removes a task in any state; its holder's next call is refused. Whether it was there. */
  cancel(id: number, reason?: string): Promise<boolean>;
  /** Buries what expired or lapsed for good, removes what is past its retention. */
  sweep(): Promise<{ expired: number; purged: number }>;
  /**
   * Makes due now what is due later, delayed or in backoff. How many of the tasks that were. One
   * commit, at most 10 000 ids.
   *
   * @throws FencepostError `LIMIT_EXCEEDED`, `PERMISSION_DENIED` without `manage`
   *
   * ```ts
   * await queue.promote([7, 8])
   * ```
   */
  promote(ids: readonly number[]): Promise<number>;
  /**
   * Makes a waiting task due at another time. Whether it waits: one that is claimed, done or dead
   * stays as it is.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `PERMISSION_DENIED` without `manage`
   *
   * ```ts
   * await queue.reschedule(7, new Date('2030-01-01'))
   * ```
   */
  reschedule(id: number, at: number | Date): Promise<boolean>;
  /**
   * Brings dead tasks back, lowest ids first, attempts reset, order kept. How many. Many are
   * several commits, of at most 1 000 each; what dies again meanwhile is not brought back twice.
   */
  redrive(options?: { ids?: number[]; limit?: number }): Promise<number>;
  /**
   * Removes dead and done tasks, or those of one state, or the named ones. How many. Many are
   * several commits, of at most 1 000 each.
   */
  purge(options?: { state?: 'dead' | 'done'; ids?: number[] }): Promise<number>;
  /** Nothing is claimed until `resume`; holders carry on. Survives restarts. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  explain(id: number): Promise<Explanation | null>;
  /** When a claim may next be served; null when nothing waits, or while paused. */
  nextDue(): Promise<number | null>;
  /**
   * Waits for the task's result. Needs `resultRetention` on the task. Undefined when it was
   * completed without one.
   *
   * @throws FencepostError `TASK_DEAD`, `TASK_CANCELLED` or `TASK_GONE`; or the signal's reason
   */
  result(id: number, options?: { signal?: AbortSignal }): Promise<R | undefined>;
  /**
   * Resolves when nothing waits, runs or is due before `until`: no task is ready or in flight, and
   * none is scheduled (retries are) for an earlier instant. A claim of an owner that died counts
   * until it has lapsed and somebody did its work.
   *
   * `until`: a Date or milliseconds since the epoch; default: whatever is scheduled counts. In a
   * queue that is paused it always does. For callers who may `inspect`.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `STORE_CLOSED`; or the signal's reason
   *
   * ```ts
   * await queue.drained({ until: Date.now() + 60_000, signal: AbortSignal.timeout(300_000) })
   * ```
   */
  drained(options?: { until?: number | Date; signal?: AbortSignal }): Promise<void>;
  /**
   * Runs `handler` on the tasks of the queue, in order, until the worker is stopped.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME` for bad options, `STORE_CLOSED`
   *
   * ```ts
   * const worker = store.queue<Mail>('mail').work(
   *   async (task, { signal }) => {
   *     const answer = await fetch(url, { method: 'POST', body: task.payload.text, signal })
   *     if (answer.status === 429) throw new RetryAfter(60_000)
   *   },
   *   { concurrency: 4 },
   * )
   * await worker.stop()
   * ```
   */
  work(handler: Handler<P, R, Q>, options?: WorkOptions): Worker;
}

/** A queue at a glance. */
export interface QueueSummary {
  name: string;
  counts: TaskCounts;
  paused: boolean;
  /** The earliest due time of what `counts.ready` counts. */
  oldestReadyAt?: number;
  nextDue?: number;
}
