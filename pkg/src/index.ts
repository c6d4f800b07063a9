/** `fencepost`: durable task queues and fenced leases that run where your code runs. */
export {
  Cancelled,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  FencepostError,
  LeaseLost,
  NonRetriable,
  RetryAfter,
  Stopped,
  TimedOut,
} from './errors.js';
export type { Durability, Entry, Journal, News, Slot } from './journal/journal.js';
export { memory } from './journal/memory.js';
export { open } from './open.js';
export type * from './types.js';
export { check, del, put } from './writes.js';
