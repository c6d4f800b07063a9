/** What a transaction's body works with. */
import type { Page } from './answers.js';
import type { NameIn, NoQueues, PayloadOf } from './declared.js';
import type { Lease } from './lease.js';
import type { EnqueueOptions, QueueOptions } from './queue.js';
import type { Enqueued, QueuedClaimHolder, TaskRecord } from './task.js';

/** A queue inside a transaction. */
export interface TransactionQueue<P = unknown> {
  enqueue(payload: P, options?: Omit<EnqueueOptions, 'writes'>): Enqueued;
  get(id: number): TaskRecord | null;
  cancel(id: number): boolean;
}

/**
 * What a transaction's body works with. Synchronous; it may run more than once and sees its own
 * writes. The first of `complete`, `fail`, `heartbeat`, `release`, `require` and `check` that does
 * not hold refuses the whole transaction.
 */
export interface Transaction<Q = NoQueues> {
  readonly now: number;
  readonly kv: {
    /** The version of an own write is not known yet: `undefined`. */
    get<T = unknown>(key: string): { value: T; version: number | undefined } | null;
    put(key: string, value: unknown): void;
    delete(key: string): boolean;
    list<T = unknown>(options?: {
      prefix?: string;
      cursor?: string;
      limit?: number;
    }): Page<{ key: string; value: T; version: number | undefined }>;
  };
  /** Stamps as the queue was declared, unless the options say otherwise. */
  queue<N extends NameIn<Q>>(name: N, options?: QueueOptions): TransactionQueue<PayloadOf<Q[N]>>;
  queue(name: string, options?: QueueOptions): TransactionQueue;
  outbox(name: string): Pick<TransactionQueue, 'enqueue'>;
  /**
   * `result` is encoded as the task's payload was. For a claim that is no Task of this package the
   * codec is JSON; of a row with another one that is `INVALID_ARGUMENT`.
   */
  complete(task: QueuedClaimHolder, result?: unknown): void;
  fail(
    task: QueuedClaimHolder,
    error?: unknown,
    options?: { delay?: number; final?: boolean },
  ): void;
  heartbeat(task: QueuedClaimHolder, options?: { extend?: number; progress?: unknown }): void;
  release(task: QueuedClaimHolder, options?: { delay?: number }): void;
  require(holder: Pick<Lease, 'name' | 'token'> | QueuedClaimHolder): void;
  /** Compares with the state before the transaction; null: must not exist. */
  check(key: string, version: number | null): void;
}
