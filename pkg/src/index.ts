/**
 * `fencepost`: durable task queues and fenced leases that run where your code runs. `open` is what
 * the entries in `entry/` add, each for its runtime.
 */
export { queue } from './declared.js';
export {
  Cancelled,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  FencepostError,
  LeaseLost,
  NonRetriable,
  RetryAfter,
  Snooze,
  Stopped,
  TimedOut,
} from './errors.js';
export type {
  Durability,
  Entry,
  Journal,
  News,
  Slot,
  Snapshot,
  SnapshotParts,
  Torn,
} from './journal/journal.js';
export { memory } from './journal/memory.js';
export type { Open } from './open.js';
export type * from './types.js';
export { check, del, put } from './writes.js';
