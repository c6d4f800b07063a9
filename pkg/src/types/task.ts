/** Tasks: claimed ones, and rows as they stand in the store. */
import type { Committed, Refused } from './answers.js';
import type { FollowUpIn, NoQueues } from './declared.js';
import type { Write } from './kv.js';
import type { Codec, EnqueueOptions } from './queue.js';

/** The states of a task as users see them. */
export type TaskState = 'scheduled' | 'ready' | 'inflight' | 'done' | 'dead';

/** Why a task is dead: its attempts are used up, it was failed for good, or it expired. */
export type DeadReason = 'exhausted' | 'failed' | 'expired';

/** The task that an enqueue made, or found under its key. */
export interface Enqueued {
  id: number;
  /** Counts per queue, from 1. */
  seq: number;
  /** False: the key matched, nothing was written. */
  created: boolean;
  /** Absent when the caller may not inspect the queue and another one's task was found. */
  state?: TaskState;
}

/** What any claim is known by. */
export interface ClaimHolder {
  readonly id: number;
  readonly token: number;
}

/** A claim, with the queue it belongs to where that is known. */
export interface QueuedClaimHolder extends ClaimHolder {
  readonly queue?: string;
}

/** A claimed task. Its methods are refused once the claim is lost. */
export interface Task<P = unknown, R = unknown, Q = NoQueues> {
  readonly id: number;
  readonly queue: string;
  /** Decoded on first access; a codec's error is thrown here. */
  readonly payload: P;
  readonly priority: number;
  /** Counts the claims, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Rises with every grant: give it to whatever the task changes outside. */
  readonly token: number;
  readonly owner: string;
  /** The last millisecond of the claim. Follows heartbeats. */
  readonly deadline: number;
  readonly enqueuedAt: number;
  readonly key?: string;
  readonly progress?: unknown;
  readonly lastError?: string;
  /** Of a task that a schedule made: the boundary it stands for. */
  readonly boundary?: number;
  /**
   * The task is over; what follows from it begins in the same commit.
   *
   * Refused with `gone`, `settled`, `fenced`, `expired`, or `changed` when a `check` does not hold.
   *
   * ```ts
   * const followUps = [{ queue: 'bill', payload: 7 }]
   * const done = await task.complete({ sent: true }, { followUps })
   * if (!done.ok) console.log(done.reason)
   * ```
   */
  complete(
    result?: R,
    options?: { followUps?: FollowUpIn<Q>[]; writes?: Write[] },
  ): Promise<Committed<{ followUps: Enqueued[] }> | Refused>;
  /**
   * The attempt failed: due again after the backoff, or dead when it was the last one or `final`.
   * The text of `error` is kept on the task: its name, unless that is `Error`, its message, and a
   * line for each of its causes, at most 8; cut at 4 KiB.
   */
  fail(
    error?: unknown,
    options?: { delay?: number; final?: boolean; writes?: Write[] },
  ): Promise<Committed<{ state: TaskState; runAt?: number }> | Refused>;
  /**
   * Sets the deadline to now + `extend` (from 1; default: the claim's own length) and keeps
   * `progress`, when given, for the next claim.
   */
  heartbeat(options?: {
    extend?: number;
    progress?: unknown;
  }): Promise<Committed<{ deadline: number }> | Refused>;
  /**
   * Gives it back un-run; the attempt is not counted. It keeps its place in the order, or is due
   * after `delay`, milliseconds: `task.release({ delay: 60_000 })`. A worker whose
   * handler does so claims again only after a pause, from 100 to 1 600 ms.
   */
  release(options?: { delay?: number }): Promise<Committed | Refused>;
}

/** A task that begins when another one completes; stamped as its queue was declared, if it was. */
export interface FollowUp<N = string, P = unknown> {
  queue: N;
  payload: P;
  options?: Omit<EnqueueOptions, 'writes'>;
  /** Default: that of the declared queue, else JSON. */
  codec?: Codec;
}

/** A task as it stands in the store. What does not apply to its state is absent. */
export interface TaskRecord<P = unknown, R = unknown> {
  readonly id: number;
  readonly seq: number;
  readonly queue: string;
  readonly state: TaskState;
  readonly payload: P;
  readonly priority: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly runAt: number;
  readonly enqueuedAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly token?: number;
  readonly owner?: string;
  readonly deadline?: number;
  readonly claimedAt?: number;
  readonly lastOwner?: string;
  readonly expiresAt?: number;
  readonly key?: string;
  readonly progress?: unknown;
  readonly lastError?: string;
  readonly result?: R;
  readonly diedAt?: number;
  readonly deadReason?: DeadReason;
  readonly boundary?: number;
  /** In flight, and its claim ran out: whoever claims next gets it. */
  readonly lapsed?: true;
}

/** How many tasks are in each state; `lapsed` are those in flight whose claim ran out. */
export type TaskCounts = Record<TaskState | 'lapsed', number>;

/** Why a task is not running, and when that may change. */
export interface Explanation {
  state: TaskState;
  because:
    | 'due-later'
    | 'paused'
    | 'behind-others'
    | 'claimed'
    | 'no-owner-claims'
    | 'dead'
    | 'done';
  until?: number;
}
