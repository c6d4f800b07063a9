/** The few names that all clients of a world use, so that they meet. */
import type { QueueOptions } from 'fencepost';

export const STORE = 'world';

/** Queues, each with another life of its tasks. */
export const QUEUES: Readonly<Record<string, QueueOptions>> = {
  mail: { lease: 40, maxAttempts: 2, backoff: { base: 10, max: 100 }, resultRetention: 30_000 },
  bill: { lease: 400, maxAttempts: 3, backoff: { base: 0 }, deadRetention: 60_000 },
  scrap: { lease: 15, maxAttempts: 1, deadRetention: 0, keyRetention: 50 },
};
export const QUEUE_NAMES = Object.keys(QUEUES);
export const LEASE_NAMES = ['leader', 'monitor'];
export const LOCK_NAME = 'door';
/** Values that everybody writes. */
export const SHARED_KEYS = ['a', 'b', 'c'];
export const COUNTER = 'counter';
/** Before the values that only one command ever writes. */
export const MARK_PREFIX = 'mark:';
/** How the engine stores the lock. */
export const LOCK_LEASE = `__fencepost_lock:${LOCK_NAME}`;
/** At the end of the name of every owner that is a worker. */
export const WORKER = '-worker';
