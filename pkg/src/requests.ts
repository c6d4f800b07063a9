/**
 * What the package asks of the engine, after every option was checked and every value encoded.
 * `options.ts` makes these from what users pass; `bridge.ts` packs them. Absent numbers are `NaN`.
 */

import type { CallerRequest } from './requests-caller.js';
import type { NameListRequest, TaskListRequest } from './requests-list.js';
import type { ScheduleOperations } from './requests-schedule.js';
import type { SnapshotOperations } from './requests-snapshot.js';
import type { RefusalReason, StoreEvent, TaskCounts } from './types.js';
import type { Touched } from './wakes.js';

export type { CallerRequest, GrantRequest } from './requests-caller.js';
export { type NameListRequest, ORDERS, type TaskListRequest } from './requests-list.js';

/** Which rules a name follows; the numbers are those of `src/wasm/reader.rs`. */
export const FAMILY = { shared: 0, outbox: 1, lock: 2, effect: 3, key: 4, owner: 5 } as const;
export type Family = (typeof FAMILY)[keyof typeof FAMILY];

/** A name as the engine stores it, with the family that says how to check it. */
export interface FullName {
  readonly family: Family;
  readonly text: string;
}

/** What a checked name is called in a message; in the order of `src/wasm/inspect.rs`. */
export const NAME_ARGUMENTS = ['name', 'owner', 'key', 'codec'] as const;
export type NameArgument = (typeof NAME_ARGUMENTS)[number];

/** How an engine starts. */
export interface StartRequest {
  readonly store: string;
  readonly seed: bigint;
  readonly replica: number;
  /** `NaN`: the engine's default. */
  readonly maxPayloadBytes: number;
  /** `NaN`: the engine's default. */
  readonly maxStoreBytes: number;
}

/** States in the order of the engine's numbers. */
export const TASK_STATES = ['scheduled', 'ready', 'inflight', 'done', 'dead'] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const DEAD_REASONS = ['exhausted', 'failed', 'expired'] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];

export const JITTERS = ['equal', 'full', 'none'] as const;
export type Jitter = (typeof JITTERS)[number];

/** Resolved stamps: the task's own options over the queue's; `NaN` leaves the engine's default. */
export interface StampsRequest {
  readonly lease: number;
  readonly maxAttempts: number;
  readonly backoffBase: number;
  readonly backoffMax: number;
  readonly jitter: Jitter;
  readonly deadRetention: number;
  readonly resultRetention: number;
  readonly keyRetention: number;
}

export interface EnqueueRequest {
  readonly queue: FullName;
  readonly payload: Uint8Array;
  readonly key: string | undefined;
  /** The name of the codec that made the payload; absent is JSON. */
  readonly codec: string | undefined;
  readonly priority: number;
  readonly delay: number;
  readonly runAt: number;
  readonly expiresIn: number;
  readonly stamps: StampsRequest;
  readonly writes: readonly WriteRequest[];
}

export type WriteRequest =
  | { readonly kind: 'put'; readonly key: FullName; readonly value: Uint8Array }
  | { readonly kind: 'delete'; readonly key: FullName }
  /** `NaN`: the key must not exist. */
  | { readonly kind: 'check'; readonly key: FullName; readonly version: number };

export interface ClaimRequest {
  readonly queue: FullName;
  readonly owner: string;
  readonly max: number;
  readonly lease: number;
}

/** Names a claim. */
export interface ClaimReference {
  readonly queue: FullName;
  readonly id: number;
  readonly token: number;
}

export interface CompleteRequest extends ClaimReference {
  readonly result: Uint8Array | undefined;
  readonly followUps: readonly EnqueueRequest[];
  readonly writes: readonly WriteRequest[];
}

export interface FailRequest extends ClaimReference {
  readonly error: string | undefined;
  readonly delay: number;
  readonly final: boolean;
  readonly writes: readonly WriteRequest[];
}

export interface HeartbeatRequest extends ClaimReference {
  readonly extend: number;
  readonly progress: Uint8Array | undefined;
}

export interface AcquireRequest {
  readonly name: FullName;
  readonly owner: string;
  readonly ttl: number;
  readonly meta: Uint8Array | undefined;
}

export interface RenewRequest {
  readonly name: FullName;
  readonly token: number;
  readonly ttl: number;
  readonly meta: Uint8Array | undefined;
}

export interface EnqueuedReply {
  readonly id: number;
  readonly seq: number;
  readonly created: boolean;
  /** Absent when the caller may not know it. */
  readonly state: TaskState | undefined;
}

/**
 * A task's row as it was when it was read. It is a view: all but `id` and `token` are getters, so a
 * spread, a structured clone or a message takes only those two. Printed, and as JSON, it is whole.
 * Every look at bytes gives a copy of its own.
 */
export interface TaskReply {
  readonly id: number;
  readonly seq: number;
  readonly priority: number;
  readonly state: TaskState;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly token: number | undefined;
  readonly deadline: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly runAt: number;
  readonly expiresAt: number | undefined;
  readonly claimedAt: number | undefined;
  readonly diedAt: number | undefined;
  readonly deadReason: DeadReason | undefined;
  readonly boundary: number | undefined;
  readonly resultRetention: number;
  /** Whether its claim ran out. */
  readonly lapsed: boolean;
  readonly owner: string | undefined;
  readonly lastOwner: string | undefined;
  readonly key: string | undefined;
  readonly codec: string | undefined;
  readonly lastError: string | undefined;
  readonly progress: Uint8Array | undefined;
  readonly result: Uint8Array | undefined;
  readonly payload: Uint8Array;
}

export interface QueueReply {
  readonly name: string;
  readonly counts: TaskCounts;
  readonly paused: boolean;
  oldestReadyAt?: number;
  nextDue?: number;
}

export interface LeaseReply {
  readonly name: string;
  readonly owner: string | undefined;
  readonly token: number;
  readonly until: number;
  readonly acquiredAt: number;
  readonly meta: Uint8Array | undefined;
}

export interface ValueReply {
  readonly key: string;
  readonly value: Uint8Array;
  /** Absent for a transaction's own write. */
  readonly version: number | undefined;
}

export interface PageReply<T> {
  readonly items: T[];
  readonly more: boolean;
}

/** A command that does not hold now; nothing was changed. */
export interface Refused {
  readonly ok: false;
  readonly reason: RefusalReason;
  readonly details?: Record<string, unknown>;
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused;

/** The caller that may do everything. */
export const ROOT = 0;

/** When, and for whom. */
export interface Moment {
  readonly now: number;
  readonly caller: number;
}

/** Where an entry is written. */
export interface EntryRoom {
  readonly size: number;
  /** Takes an entry that fits, and answers where it is now. */
  fill(entry: Uint8Array): Uint8Array;
}

/**
 * The engine as the package uses it. Synchronous; every method throws a FencepostError for a wrong
 * argument or a missing right, and a WebAssembly.RuntimeError when it crashed and must be dropped.
 */
export interface Bridge extends ScheduleOperations, SnapshotOperations {
  queueEnqueue(request: EnqueueRequest, at: Moment): EnqueuedReply;
  queueEnqueueMany(requests: readonly EnqueueRequest[], at: Moment): EnqueuedReply[];
  queueClaim(request: ClaimRequest, at: Moment): TaskReply[];
  queueComplete(request: CompleteRequest, at: Moment): Outcome<EnqueuedReply[]>;
  queueCompleteMany(claims: readonly ClaimReference[], at: Moment): number;
  queueFail(request: FailRequest, at: Moment): Outcome<{ state: TaskState; runAt?: number }>;
  /** The new deadline. */
  queueHeartbeat(request: HeartbeatRequest, at: Moment): Outcome<number>;
  /** `delay`: due then; `NaN`: in its old place. */
  queueRelease(claim: ClaimReference, delay: number, at: Moment): Outcome<undefined>;
  /** Ends the claim as a lapse would. */
  queueAbandon(claim: ClaimReference, at: Moment): Outcome<undefined>;
  queueCancel(queue: FullName, id: number, reason: string | undefined, at: Moment): boolean;
  /** One commit's worth; `more` asks for another. */
  queueSweep(queue: FullName, at: Moment): { expired: number; purged: number; more: boolean };
  /**
   * One commit's worth, behind the id `after`; `more` asks for another, behind `last`. `limit`
   * `NaN`: no limit.
   */
  queueRedrive(
    queue: FullName,
    request: { limit: number; after: number; ids: readonly number[] | undefined },
    at: Moment,
  ): { count: number; more: boolean; last: number };
  /** One commit's worth; `more` asks for another. */
  queuePurge(
    queue: FullName,
    state: 'dead' | 'done' | undefined,
    ids: readonly number[] | undefined,
    at: Moment,
  ): { count: number; more: boolean };
  /** How many were due later, and are due now. */
  queuePromote(queue: FullName, ids: readonly number[], at: Moment): number;
  /** Whether the task waits. */
  queueReschedule(queue: FullName, id: number, runAt: number, at: Moment): boolean;
  queuePause(queue: FullName, paused: boolean, at: Moment): void;
  queueGet(queue: FullName, id: number, at: Moment): TaskReply | undefined;
  queueList(request: TaskListRequest, at: Moment): PageReply<TaskReply>;
  queueByKey(queue: FullName, key: string, at: Moment): TaskReply | undefined;
  queueCounts(queue: FullName, at: Moment): TaskCounts;
  queueNextDue(queue: FullName, at: Moment): number | undefined;
  queueExplain(
    queue: FullName,
    id: number,
    at: Moment,
  ): { state: TaskState; because: string; until?: number } | undefined;
  /**
   * Why a task is not there any more, when it left no other trace and is remembered: it was
   * cancelled, or died and was not to be kept.
   */
  removalOf(id: number): { cause: 'cancelled' | 'buried'; reason?: string } | undefined;
  /** Throws unless the caller may claim and settle there. */
  queueMayWork(queue: FullName, at: Moment): void;
  /** The name of the queue that a merged task is in. */
  queueOf(id: number): string | undefined;
  queues(at: Moment): QueueReply[];

  leaseAcquire(
    request: AcquireRequest,
    at: Moment,
  ): Outcome<{ token: number; until: number; acquiredAt: number; meta: Uint8Array | undefined }>;
  /** The new end. */
  leaseRenew(request: RenewRequest, at: Moment): Outcome<number>;
  leaseRelease(name: FullName, token: number, at: Moment): boolean;
  leaseGuardedCommit(
    name: FullName,
    token: number,
    writes: readonly WriteRequest[],
    at: Moment,
  ): Outcome<undefined>;
  leaseStatus(name: FullName, at: Moment): LeaseReply | undefined;
  leaseList(request: NameListRequest, at: Moment): PageReply<LeaseReply>;

  /** The value's version. */
  kvPut(key: FullName, value: Uint8Array, at: Moment): number;
  kvDelete(key: FullName, at: Moment): boolean;
  kvGet(key: FullName, at: Moment): ValueReply | undefined;
  kvList(request: NameListRequest, at: Moment): PageReply<ValueReply>;

  /**
   * Calls from here on are one command, until `txCommit` or `txAbort`. Answers the time they get.
   */
  txBegin(now: number): number;
  txCommit(now: number): void;
  txAbort(): void;
  txRequireClaim(claim: ClaimReference, at: Moment): Outcome<undefined>;
  txRequireLease(name: FullName, token: number, at: Moment): Outcome<undefined>;
  txCheck(key: FullName, version: number, at: Moment): Outcome<undefined>;
  txGet(queue: FullName, id: number, at: Moment): TaskReply | undefined;
  txKvGet(key: FullName, at: Moment): ValueReply | undefined;
  txKvList(request: NameListRequest, at: Moment): PageReply<ValueReply>;

  addCaller(caller: CallerRequest): number;
  removeCaller(caller: number): void;
  /** Throws unless the text is a name of its family; `argument` is named in the message. */
  checkName(argument: NameArgument, name: FullName): void;

  /** Founds an empty log, as the first staged command. */
  found(now: number): void;
  /** Seals what is staged, and gives only the bytes: in `room` if they fit. */
  takeBytes(room?: EntryRoom): Uint8Array | undefined;
  /** Seals what is staged. It is then merged (`mergeSealed`) or discarded before anything else. */
  takeEntry():
    | { bytes: Uint8Array; tag: Uint8Array; commit: { replica: number; counter: number } }
    | undefined;
  mergeSealed(): void;
  merge(entry: Uint8Array): void;
  discard(): void;
  /** Enforces expiry and retention everywhere, one commit's worth. */
  maintain(now: number): { expired: number; purged: number; more: boolean };
  /** Ends what was granted after a token, one commit's worth. Whether there is more. */
  reclaim(since: number, now: number): boolean;
  verify(): { ok: boolean; rows: number; problems: string[] };
  /**
   * Records the events of commands after a version, in what is merged from here on. Goes on as it
   * was when events are recorded already.
   */
  recordEvents(told: number): void;
  /** Forgets what was recorded, and records no more. */
  stopRecording(): void;
  /** What was recorded, as far as the caller may inspect it. */
  events(caller: number): StoreEvent[];
  /**
   * What was merged since the call before, in an engine that was asked before; null: there is no
   * telling.
   */
  touched(): Touched | null;
  /** What was recorded has been handed on. */
  forgetEvents(): void;
  rowsHash(): string;
  /** Whether a commit is in the merged log. */
  holds(commit: { replica: number; counter: number }): boolean;

  /** The name in the log; absent before it is founded. */
  readonly store: string | undefined;
  readonly logId: string;
  readonly version: number;
  readonly slot: number;
  /** Of the newest merged entry. */
  readonly tag: Uint8Array;
  /** Of the newest merged entry, in milliseconds. */
  readonly time: number;
  /** How many staged commands have changed something: command k has version + k. */
  readonly stagedCommands: number;
  /** Whether the staged commands fill an entry. */
  readonly groupIsFull: boolean;
  readonly newestToken: number;
  /** When time alone changes an answer, or enforcement has work. */
  readonly nextDue: number | undefined;
  /** What the engine said when it crashed; may be read after the crash. */
  readonly crashMessage: string | undefined;
  /** Gives the memory back. Nothing may be called afterwards. */
  free(): void;
}
