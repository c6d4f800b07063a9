/** What happened in a store, as it is told to whoever listens. */

/** One thing that a command did. Fields that do not apply are absent. */
export interface StoreEvent {
  /**
   * Of the command, from 1. Events of one command have one version and come together. All of them
   * have been told when one with a larger version comes: to resume, remember the version before it
   * and pass that as `from`. What came last may then be told again.
   */
  version: number;
  /** The time of its commit. */
  at: number;
  /**
   * - `enqueued` `claimed` `heartbeat` `completed` `retried` (failed, to be tried again) `released`
   *   `dead` `cancelled` `redriven` `purged` `rescheduled` (by hand): a task, with `queue`, `id`
   *   and, if it has one, `key`
   * - `paused` `resumed`: a `queue`
   * - `lease-acquired` `lease-renewed` `lease-released`: a lease or lock, by `name`
   * - `kv-put` `kv-deleted`: a value or an effect, by `key`
   * - `scheduled` `unscheduled` `fired`: a schedule, by `name`, with its `queue`; `fired` comes
   *   behind the `enqueued` of the tasks it made, in the same version, with the newest one's `id`
   * - `gap`: what happened up to this `version` and was not told yet is not known any more; after
   *   it nothing is missing. Whoever keeps a picture reads it anew.
   *
   * Time by itself is no event: that a task becomes ready, or that a claim or lease runs out. The
   * next `claimed` or `lease-acquired` tells of the successor, with a larger token.
   */
  type:
    | 'enqueued'
    | 'claimed'
    | 'heartbeat'
    | 'completed'
    | 'retried'
    | 'released'
    | 'dead'
    | 'cancelled'
    | 'redriven'
    | 'purged'
    | 'paused'
    | 'resumed'
    | 'lease-acquired'
    | 'lease-renewed'
    | 'lease-released'
    | 'kv-put'
    | 'kv-deleted'
    | 'scheduled'
    | 'unscheduled'
    | 'fired'
    | 'rescheduled'
    | 'gap';
  /** An outbox is told by the queue behind it: `__fencepost_outbox:` and its name. */
  queue?: string;
  /** Of the task. */
  id?: number;
  /** Of the lease; a lock is told as `__fencepost_lock:` and its name. */
  name?: string;
  /** The task's idempotency key, or the key of the value. */
  key?: string;
  /** Whose claim or lease began, goes on or ended with it. */
  owner?: string;
  /** Of that claim or lease. */
  token?: number;
  /**
   * Of a death: `exhausted`, `failed` or `expired`. Of a cancellation: the words it was given. Of a
   * release: `abandoned` when the attempt counts, because its worker was stopped or its process
   * died; otherwise none.
   */
  reason?: string;
}

export interface EventsOptions {
  /**
   * Everything after this version, as far as the journal still has it; a whole number from 0.
   * Default: from now on. What was compacted away is a `gap`, and so is a version that the store
   * has not reached, as after a restored backup.
   */
  from?: number;
  /** Ends the iteration at once. That is no error: the loop is left as by `break`. */
  signal?: AbortSignal;
}
