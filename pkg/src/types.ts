/**
 * The public types: what applications name. Every duration and instant is an integer number of
 * milliseconds, instants since the Unix epoch.
 *
 * No code lives here; the classes behind these interfaces are not exported.
 */
export type * from './types/answers.js';
export type * from './types/declared.js';
export type * from './types/event.js';
export type * from './types/kv.js';
export type * from './types/lease.js';
export type * from './types/open.js';
export type * from './types/queue.js';
export type * from './types/schedule.js';
export type * from './types/store.js';
export type * from './types/task.js';
export type * from './types/transaction.js';
export type * from './types/worker.js';
