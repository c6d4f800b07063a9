/** Queues that are declared when the store is opened, and what follows from that for types. */
import type { QueueOptions } from './queue.js';
import type { ScheduledJob } from './schedule.js';
import type { FollowUp } from './task.js';

/** A queue's options, with the types of its payloads and results. `queue()` makes one. */
export interface QueueDeclaration<P = unknown, R = unknown> extends QueueOptions {
  /** For the compiler only: it is never there. */
  readonly types?: { readonly payload: P; readonly result: R };
}

/** Declared queues by their names. */
export type Queues = { readonly [name: string]: QueueDeclaration };

/** Of a store that was opened without declared queues. */
export type NoQueues = Record<never, never>;

/** The declared names; none where they are not known one by one. */
export type NameIn<Q> = string extends keyof Q ? never : keyof Q & string;

/** The payload of a declared queue. */
export type PayloadOf<D> = D extends QueueDeclaration<infer P, unknown> ? P : unknown;

/** The result of a declared queue. */
export type ResultOf<D> = D extends QueueDeclaration<unknown, infer R> ? R : unknown;

/** A follow-up in one of the declared queues; in any queue where none is declared. */
export type FollowUpIn<Q> = [NameIn<Q>] extends [never]
  ? FollowUp
  : { [N in NameIn<Q>]: FollowUp<N, PayloadOf<Q[N]>> }[NameIn<Q>];

/** A scheduled job in one of the declared queues; in any queue where none is declared. */
export type ScheduledJobIn<Q> = [NameIn<Q>] extends [never]
  ? ScheduledJob
  : { [N in NameIn<Q>]: ScheduledJob<N, PayloadOf<Q[N]>> }[NameIn<Q>];
