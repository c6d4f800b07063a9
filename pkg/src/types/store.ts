/// <reference lib="esnext.disposable" preserve="true" />
/** The store, and who may do what in it. */
import type { Torn } from '../journal/journal.js';
import type { Committed, Page, Refused } from './answers.js';
import type { NameIn, NoQueues, PayloadOf, ResultOf, ScheduledJobIn } from './declared.js';
import type { EventsOptions, StoreEvent } from './event.js';
import type { Kv } from './kv.js';
import type { Effect, LeaseName, LeaseRecord, LockName } from './lease.js';
import type { Queue, QueueOptions, QueueSummary } from './queue.js';
import type { ScheduleRecord, When } from './schedule.js';
import type { Transaction } from './transaction.js';

/**
 * What a grant is about: a name; all names with a prefix, as a text that ends in `*`; or the one
 * name `exact`, whatever it ends in. Names that others choose belong into `{ exact }`.
 */
export type GrantNames = string | { exact: string };

/** Rights on a name, or on all names with a prefix. At most 1 000 rights. */
export type Grant =
  | { queue: GrantNames; rights: ('enqueue' | 'claim' | 'settle' | 'inspect' | 'manage')[] }
  | { lease: GrantNames; rights: ('acquire' | 'inspect')[] }
  | { kv: GrantNames; rights: ('read' | 'write')[] };

/** Who calls, and what it may do. Nothing else is allowed. At most 1 000 grants. */
export interface Caller {
  actor: string;
  may: Grant[];
}

/** What `verify` found. */
/** Rows of a kind, and what they weigh. */
export interface Amount {
  rows: number;
  /** Of an engine's memory, with everything around a row: an upper bound. */
  bytes: number;
}

/** How full a store is. */
export interface StoreUsage {
  /** What all rows weigh. */
  bytes: number;
  /** What they may weigh: 1.25 GiB. */
  limit: number;
  tasks: Amount;
  payloads: Amount;
  /** Results, progress and long errors. */
  results: Amount;
  /** Idempotency keys, held and kept. */
  keys: Amount;
  values: Amount;
  leases: Amount;
  schedules: Amount;
  queues: Amount;
  /** Bytes of the newest snapshot and of the entries behind it, as far as this store knows. */
  journal: { snapshot: number; entries: number };
}

export interface VerifyReport {
  ok: boolean;
  rows: number;
  problems: string[];
}

/** One log and the state made from it. */
export interface Store<Q = NoQueues> extends AsyncDisposable {
  readonly name: string;
  readonly logId: string;
  /** Of the newest merged command. */
  readonly version: number;
  /**
   * What a crash had left behind the last whole entry, and was cut off when this store was opened;
   * undefined when there was nothing of that kind. A `torn-write` was acknowledged to nobody. After
   * a `power-loss` commits of a `relaxed` store are missing, as its durability allows. Anything
   * else that is wrong with the log is `JOURNAL_CORRUPT`. Only the file journal has such ends.
   *
   * ```ts
   * const { recovered } = store
   * if (recovered?.why === 'power-loss') warn(`${recovered.bytes} bytes behind ${recovered.slot}`)
   * ```
   */
  readonly recovered: Torn | undefined;
  /** @throws FencepostError `INVALID_NAME`, `RESERVED_NAME`, `INVALID_ARGUMENT`, `STORE_CLOSED` */
  queue<N extends NameIn<Q>>(
    name: N,
    options?: QueueOptions,
  ): Queue<PayloadOf<Q[N]>, ResultOf<Q[N]>, Q>;
  queue<P = unknown, R = unknown>(name: string, options?: QueueOptions): Queue<P, R, Q>;
  /** A queue with the stamps lease 60 000, maxAttempts 5, backoff base 5 000. Name: 200 bytes. */
  outbox<P = unknown, R = unknown>(name: string): Queue<P, R, Q>;
  lease(name: string): LeaseName;
  /** Name: 200 bytes. */
  lock(name: string): LockName;
  /** Key: 200 bytes. */
  effect(key: string): Effect;
  readonly leases: {
    /** Held ones, in name order. `limit`: default 100, at most 1 000. */
    list(options?: {
      prefix?: string;
      cursor?: string;
      limit?: number;
    }): Promise<Page<LeaseRecord>>;
  };
  readonly kv: Kv;
  /**
   * Makes a task of `job` at every boundary of `when`, while some replica of the store is open, and
   * catches up with those that came meanwhile. Firing and moving on are one commit: no boundary
   * fires twice. The task has its `boundary`. At most 10 000 schedules.
   *
   * Registering again under a name with an equal `when` keeps the next boundary and takes the new
   * job; another `when` begins anew. Needs the right to `manage` the job's queue.
   *
   * @throws FencepostError `INVALID_SCHEDULE` for a bad `when`; `INVALID_ARGUMENT`, `INVALID_NAME`,
   * `RESERVED_NAME`, `PAYLOAD_TOO_LARGE` for the job; `LIMIT_EXCEEDED`, `PERMISSION_DENIED`
   *
   * ```ts
   * const job = { queue: 'reports', payload: { kind: 'daily' } }
   * await store.schedule('daily', { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }, job)
   * ```
   */
  schedule(name: string, when: When, job: ScheduledJobIn<Q>): Promise<ScheduleRecord>;
  /**
   * Whether there was one. The tasks it made stay. Needs the right to `manage` the job's queue.
   *
   * @throws FencepostError `PERMISSION_DENIED`
   */
  unschedule(name: string): Promise<boolean>;
  readonly schedules: {
    /** All whose queue may be inspected, in name order. */
    list(): Promise<ScheduleRecord[]>;
    /**
     * Null when there is none, to who may `inspect` every queue.
     *
     * @throws FencepostError `PERMISSION_DENIED` to who may not `inspect` its queue
     */
    get(name: string): Promise<ScheduleRecord | null>;
  };
  /**
   * Runs `body` as one command: returning commits, throwing discards everything and rethrows.
   *
   * ```ts
   * await store.transact((tx) => {
   *   const seen = tx.kv.get<number>('seen')?.value ?? 0
   *   tx.kv.put('seen', seen + 1)
   *   tx.queue('mail').enqueue({ number: seen })
   * })
   * ```
   */
  transact<T>(body: (tx: Transaction<Q>) => T): Promise<Committed<T> | Refused>;
  /**
   * The same store with the given rights only, and no way back. Of a store that is restricted
   * already, both must allow. Closing it ends that handle.
   *
   * To read one thing (`get`, `counts`, `status`, …) without the right is `PERMISSION_DENIED`,
   * whether or not it is there; lists, `queues` and `events` show what may be inspected.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `STORE_CLOSED`
   *
   * ```ts
   * const may: Grant[] = [{ queue: { exact: userId }, rights: ['enqueue', 'inspect'] }]
   * const limited = store.as({ actor: userId, may })
   * ```
   */
  as(caller: Caller): Store<Q>;
  /** Queues that have tasks or a pause, in name order. */
  queues(): Promise<QueueSummary[]>;
  /**
   * What happens in the store, whoever does it, in the order of the log; of restricted stores, what
   * the caller may inspect. Begins with this call and is read once. Nothing is kept before that:
   * what happened since the call is then read from the journal.
   *
   * Each reader has a buffer of 65 536 events; one that is further behind gets a `gap` instead. It
   * ends when `signal` aborts, when the loop is left, and, after what is buffered, when the store
   * closes. While it is open other writers are followed: at once where the journal gives hints,
   * else every 30 seconds.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `STORE_CLOSED` at once; with `from`, when the
   * journal is read: `JOURNAL_UNAVAILABLE`, `JOURNAL_CORRUPT`, `LOG_REPLACED`, `ENGINE_CRASHED`
   *
   * ```ts
   * let told = seen
   * for await (const event of store.events({ from: seen })) {
   *   if (event.version > told) seen = told // only now all of that version has been told
   *   told = event.version
   *   if (event.type === 'gap') await drawEverything()
   *   else if (event.queue === 'mail') await draw(event.id)
   * }
   * ```
   */
  events(options?: EventsOptions): AsyncIterable<StoreEvent>;
  /** Reads the journal's tail; the version afterwards. */
  sync(): Promise<number>;
  /**
   * A backup: `open(name, { restore })` makes an empty journal start from it. It is read in parts,
   * so that commits go on; all of it is in JavaScript's memory in the end.
   */
  snapshot(): Promise<Uint8Array>;
  /** Compares every index with the rows. */
  verify(): Promise<VerifyReport>;
  /**
   * How full the store is. Beyond its limit, `STORE_FULL` refuses whatever would make it grow;
   * claiming, heartbeats, failing, releasing, cancelling, purging and completing without a result
   * always pass.
   *
   * ```ts
   * const { bytes, limit } = await store.usage()
   * if (bytes > 0.8 * limit) console.warn('the store is getting full')
   * ```
   */
  usage(): Promise<StoreUsage>;
  /**
   * Brings the log's time back after a clock that was far ahead. Tokens go on rising. Claims and
   * leases are cut to their own length from now, schedules get their next boundary after now; a
   * `cron` in a time zone that this runtime does not know keeps the boundary it has.
   */
  repairClock(): Promise<void>;
  /** Asks the platform not to evict the data; true where nothing can be evicted. */
  persist(): Promise<boolean>;
  /**
   * Stops the workers and waits for what was accepted. Idempotent; a shorter `drain` shortens an
   * earlier one. From the call on no worker can be made; other calls are taken until the last
   * handler is over, and reject with `STORE_CLOSED` from then on.
   *
   * `drain`: how long running handlers may go on, milliseconds from 0, or `Infinity`; default 0.
   * See `Worker.stop` for what happens then.
   */
  close(options?: { drain?: number }): Promise<void>;
}
