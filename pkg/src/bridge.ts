/**
 * The engine behind its border: pack a request, make one call, read the reply. Decides nothing.
 *
 * **Invariant**: after a `WebAssembly.RuntimeError` the instance is poisoned; its owner drops it and
 * never calls it again.
 */

import type { Core } from '../wasm/fencepost.js';
import { type ErrorCode, FencepostError } from './errors.js';
import { Packer } from './packing.js';
import { packRequest } from './packed-requests.js';
import {
  ReplyReader,
  readEnqueued,
  readKeyedValue,
  readLease,
  readValue,
  stateAt,
} from './records.js';
import {
  type AcquireRequest,
  type Bridge,
  type CallerRequest,
  type ClaimReference,
  type ClaimRequest,
  type CompleteRequest,
  type EnqueuedReply,
  type EnqueueRequest,
  FAMILY,
  type FailRequest,
  type FullName,
  type HeartbeatRequest,
  type LeaseReply,
  type Moment,
  type NameListRequest,
  type Outcome,
  type PageReply,
  type Refused,
  type RenewRequest,
  TASK_STATES,
  type TaskListRequest,
  type TaskReply,
  type TaskState,
  type ValueReply,
  type WriteRequest,
} from './requests.js';

const REFUSED = -1;
const FAILED = -2;
const NOTHING = new Uint8Array();

/** The static side of the engine's class. */
export interface CoreClass {
  checkName(argument: string, family: number, text: string): void;
  crashReport(): { message?: string };
}

export class WasmBridge implements Bridge {
  readonly #core: Core;
  readonly #class: CoreClass;
  readonly #memory: WebAssembly.Memory;
  readonly #packer: Packer;
  readonly #crash: { message?: string };

  constructor(core: Core, coreClass: CoreClass, memory: WebAssembly.Memory) {
    this.#core = core;
    this.#class = coreClass;
    this.#memory = memory;
    this.#packer = new Packer(core, memory);
    this.#crash = coreClass.crashReport();
  }

  queueEnqueue(request: EnqueueRequest, { now, caller }: Moment): EnqueuedReply {
    const size = packRequest.enqueue(this.#packer.begin(), request).size;
    return readEnqueued(this.#reply(this.#core.queueEnqueue(size, now, caller)));
  }

  queueEnqueueMany(requests: readonly EnqueueRequest[], { now, caller }: Moment): EnqueuedReply[] {
    const size = packRequest.enqueues(this.#packer.begin(), requests).size;
    return this.#reply(this.#core.queueEnqueueMany(size, now, caller)).rest(readEnqueued);
  }

  queueClaim(request: ClaimRequest, { now, caller }: Moment): TaskReply[] {
    const packer = this.#packer.begin().name(request.queue).byte(FAMILY.owner);
    const size = packer.text(request.owner).number(request.max).number(request.lease).size;
    return this.#reply(this.#core.queueClaim(size, now, caller)).rest(readTask);
  }

  queueComplete(request: CompleteRequest, { now, caller }: Moment): Outcome<EnqueuedReply[]> {
    const size = packRequest.complete(this.#packer.begin(), request).size;
    return this.#outcome(this.#core.queueComplete(size, now, caller), (reply) =>
      reply.rest(readEnqueued),
    );
  }

  queueCompleteMany(claims: readonly ClaimReference[], { now, caller }: Moment): number {
    const packer = this.#packer.begin().count(claims.length);
    for (const claim of claims) packRequest.claimReference(packer, claim);
    return this.#reply(this.#core.queueCompleteMany(packer.size, now, caller)).number();
  }

  queueFail(
    request: FailRequest,
    { now, caller }: Moment,
  ): Outcome<{ state: TaskState; runAt?: number }> {
    const size = packRequest.fail(this.#packer.begin(), request).size;
    return this.#outcome(this.#core.queueFail(size, now, caller), (reply) => {
      const state = stateAt(reply.number()) ?? 'dead';
      const runAt = reply.optional();
      return runAt === undefined ? { state } : { state, runAt };
    });
  }

  queueHeartbeat(request: HeartbeatRequest, { now, caller }: Moment): Outcome<number> {
    const packer = packRequest.claimReference(this.#packer.begin(), request);
    const size = packer.number(request.extend).blob(request.progress).size;
    return this.#outcome(this.#core.queueHeartbeat(size, now, caller), readNumber);
  }

  queueRelease(claim: ClaimReference, { now, caller }: Moment): Outcome<undefined> {
    const size = packRequest.claimReference(this.#packer.begin(), claim).size;
    return this.#outcome(this.#core.queueRelease(size, now, caller), readNothing);
  }

  queueCancel(
    queue: FullName,
    id: number,
    reason: string | undefined,
    { now, caller }: Moment,
  ): boolean {
    const size = this.#packer.begin().name(queue).number(id).text(reason).size;
    return this.#reply(this.#core.queueCancel(size, now, caller)).flag();
  }

  queueSweep(queue: FullName, { now, caller }: Moment) {
    const size = this.#packer.begin().name(queue).size;
    return readSwept(this.#reply(this.#core.queueSweep(size, now, caller)));
  }

  queueRedrive(
    queue: FullName,
    limit: number,
    ids: readonly number[] | undefined,
    { now, caller }: Moment,
  ): number {
    const packer = this.#packer.begin().name(queue).number(limit);
    const size = packRequest.ids(packer, ids).size;
    return this.#reply(this.#core.queueRedrive(size, now, caller)).number();
  }

  queuePurge(
    queue: FullName,
    state: 'dead' | 'done' | undefined,
    ids: readonly number[] | undefined,
    { now, caller }: Moment,
  ): number {
    const packer = this.#packer.begin().name(queue).number(phaseOf(state));
    const size = packRequest.ids(packer, ids).size;
    return this.#reply(this.#core.queuePurge(size, now, caller)).number();
  }

  queuePause(queue: FullName, paused: boolean, { now, caller }: Moment): void {
    const size = this.#packer.begin().name(queue).flag(paused).size;
    this.#reply(this.#core.queuePause(size, now, caller));
  }

  queueGet(queue: FullName, id: number, { now, caller }: Moment): TaskReply | undefined {
    const size = this.#packer.begin().name(queue).number(id).size;
    return this.#reply(this.#core.queueGet(size, now, caller)).rest(readTask)[0];
  }

  queueList(request: TaskListRequest, { now, caller }: Moment): PageReply<TaskReply> {
    const packer = this.#packer.begin().name(request.queue).number(phaseOf(request.state));
    const size = packer.number(request.cursor).number(request.limit).size;
    return readPage(this.#reply(this.#core.queueList(size, now, caller)), readTask);
  }

  queueCounts(queue: FullName, { now, caller }: Moment): Record<TaskState, number> {
    const size = this.#packer.begin().name(queue).size;
    const reply = this.#reply(this.#core.queueCounts(size, now, caller));
    return countsByState(reply.rest(readNumber));
  }

  queueNextDue(queue: FullName, { now, caller }: Moment): number | undefined {
    const size = this.#packer.begin().name(queue).size;
    return this.#reply(this.#core.queueNextDue(size, now, caller)).optional();
  }

  queueExplain(queue: FullName, id: number, { now, caller }: Moment) {
    return this.#thrown(
      (): { state: TaskState; because: string; until?: number } | undefined =>
        this.#core.queueExplain(queue.family, queue.text, id, now, caller),
    );
  }

  queues({ now, caller }: Moment) {
    type Summary = {
      name: string;
      counts: number[];
      paused: boolean;
      oldestReadyAt?: number;
      nextDue?: number;
    };
    const summaries = this.#thrown((): Summary[] => this.#core.queues(now, caller));
    return summaries.map((summary) => ({ ...summary, counts: countsByState(summary.counts) }));
  }

  leaseAcquire(request: AcquireRequest, { now, caller }: Moment) {
    const packer = this.#packer.begin().name(request.name).byte(FAMILY.owner);
    const size = packer.text(request.owner).number(request.ttl).blob(request.meta).size;
    return this.#outcome(this.#core.leaseAcquire(size, now, caller), (reply) => ({
      token: reply.number(),
      until: reply.number(),
      acquiredAt: reply.number(),
      meta: reply.blob(),
    }));
  }

  leaseRenew(request: RenewRequest, { now, caller }: Moment): Outcome<number> {
    const packer = this.#packer.begin().name(request.name).number(request.token);
    const size = packer.number(request.ttl).blob(request.meta).size;
    return this.#outcome(this.#core.leaseRenew(size, now, caller), readNumber);
  }

  leaseRelease(name: FullName, token: number, { now, caller }: Moment): boolean {
    const size = this.#packer.begin().name(name).number(token).size;
    return this.#reply(this.#core.leaseRelease(size, now, caller)).flag();
  }

  leaseGuardedCommit(
    name: FullName,
    token: number,
    writes: readonly WriteRequest[],
    { now, caller }: Moment,
  ): Outcome<undefined> {
    const packer = this.#packer.begin().name(name).number(token);
    const size = packRequest.writes(packer, writes).size;
    return this.#outcome(this.#core.leaseGuardedCommit(size, now, caller), readNothing);
  }

  leaseStatus(name: FullName, { now, caller }: Moment): LeaseReply | undefined {
    const size = this.#packer.begin().name(name).size;
    return this.#reply(this.#core.leaseStatus(size, now, caller)).rest(readLease)[0];
  }

  leaseList(request: NameListRequest, { now, caller }: Moment): PageReply<LeaseReply> {
    const size = packRequest.nameList(this.#packer.begin(), request).size;
    return readPage(this.#reply(this.#core.leaseList(size, now, caller)), readLease);
  }

  kvPut(key: FullName, value: Uint8Array, { now, caller }: Moment): number {
    const size = this.#packer.begin().name(key).blob(value).size;
    return this.#reply(this.#core.kvPut(size, now, caller)).number();
  }

  kvDelete(key: FullName, { now, caller }: Moment): boolean {
    const size = this.#packer.begin().name(key).size;
    return this.#reply(this.#core.kvDelete(size, now, caller)).flag();
  }

  kvGet(key: FullName, { now, caller }: Moment): ValueReply | undefined {
    const size = this.#packer.begin().name(key).size;
    const reply = this.#reply(this.#core.kvGet(size, now, caller));
    return reply.isAtEnd ? undefined : readValue(key.text, reply);
  }

  kvList(request: NameListRequest, { now, caller }: Moment): PageReply<ValueReply> {
    const size = packRequest.nameList(this.#packer.begin(), request).size;
    return readPage(this.#reply(this.#core.kvList(size, now, caller)), readKeyedValue);
  }

  txBegin(now: number): number {
    return this.#thrown(() => this.#core.txBegin(now));
  }

  txCommit(now: number): void {
    this.#reply(this.#core.txCommit(now));
  }

  txAbort(): void {
    this.#core.txAbort();
  }

  txRequireClaim(claim: ClaimReference, { now, caller }: Moment): Outcome<undefined> {
    const size = packRequest.claimReference(this.#packer.begin(), claim).size;
    return this.#outcome(this.#core.txRequireClaim(size, now, caller), readNothing);
  }

  txRequireLease(name: FullName, token: number, { now, caller }: Moment): Outcome<undefined> {
    const size = this.#packer.begin().name(name).number(token).size;
    return this.#outcome(this.#core.txRequireLease(size, now, caller), readNothing);
  }

  txCheck(key: FullName, version: number, { now, caller }: Moment): Outcome<undefined> {
    const size = this.#packer.begin().name(key).number(version).size;
    return this.#outcome(this.#core.txCheck(size, now, caller), readNothing);
  }

  txGet(queue: FullName, id: number, { now, caller }: Moment): TaskReply | undefined {
    const size = this.#packer.begin().name(queue).number(id).size;
    return this.#reply(this.#core.txGet(size, now, caller)).rest(readTask)[0];
  }

  txKvGet(key: FullName, { now, caller }: Moment): ValueReply | undefined {
    const size = this.#packer.begin().name(key).size;
    const reply = this.#reply(this.#core.txKvGet(size, now, caller));
    return reply.isAtEnd ? undefined : readValue(key.text, reply);
  }

  txKvList(request: NameListRequest, { now, caller }: Moment): PageReply<ValueReply> {
    const size = packRequest.nameList(this.#packer.begin(), request).size;
    return readPage(this.#reply(this.#core.txKvList(size, now, caller)), readKeyedValue);
  }

  addCaller(caller: CallerRequest): number {
    return this.#thrown(() => this.#core.addCaller(caller));
  }

  removeCaller(caller: number): void {
    this.#core.removeCaller(caller);
  }

  checkName(argument: string, name: FullName): void {
    this.#thrown(() => this.#class.checkName(argument, name.family, name.text));
  }

  found(now: number): void {
    this.#thrown(() => this.#core.found(now));
  }

  foundFrom(snapshot: Uint8Array, now: number): void {
    this.#thrown(() => this.#core.foundFrom(snapshot, now));
  }

  takeEntry() {
    const size = this.#core.takeEntry();
    const bytes = this.#bytes(size);
    const [replica, counter] = this.#core.sealedCommit ?? [];
    const tag = this.#core.sealedTag;
    if (tag === undefined || replica === undefined || counter === undefined) return undefined;
    return { bytes, tag, commit: { replica, counter } };
  }

  mergeSealed(): void {
    this.#thrown(() => this.#core.mergeSealed());
  }

  merge(entry: Uint8Array): void {
    this.#thrown(() => this.#core.merge(entry));
  }

  discard(): void {
    this.#core.discard();
  }

  snapshot(): Uint8Array {
    return this.#core.snapshot();
  }

  restore(snapshot: Uint8Array): void {
    this.#thrown(() => this.#core.restore(snapshot));
  }

  repairClock(now: number): boolean {
    return this.#thrown(() => this.#core.repairClock(now));
  }

  maintain(now: number) {
    return readSwept(this.#reply(this.#core.maintain(now)));
  }

  verify(): { ok: boolean; rows: number; problems: string[] } {
    return this.#thrown(() => this.#core.verify());
  }

  rowsHash(): string {
    return this.#core.rowsHash();
  }

  holds(commit: { replica: number; counter: number }): boolean {
    return this.#core.holds(commit.replica, commit.counter);
  }

  get store(): string | undefined {
    return this.#core.store;
  }
  get logId(): string {
    return this.#core.logId;
  }
  get version(): number {
    return this.#core.version;
  }
  get slot(): number {
    return this.#core.slot;
  }
  get tag(): Uint8Array {
    return this.#core.tag;
  }
  get time(): number {
    return this.#core.time;
  }
  get stagedCommands(): number {
    return this.#core.stagedCommands;
  }
  get groupIsFull(): boolean {
    return this.#core.groupIsFull;
  }
  get nextDue(): number | undefined {
    return this.#core.nextDue;
  }

  get crashMessage(): string | undefined {
    return this.#crash.message;
  }

  free(): void {
    this.#core.free();
  }

  /** The reply's bytes, copied out: the region is written over by the next call. */
  #bytes(size: number): Uint8Array {
    if (size === FAILED) throw engineError(this.#core.takeAnswer());
    if (size <= 0) return NOTHING;
    const at = this.#core.replyAt();
    return new Uint8Array(this.#memory.buffer).slice(at, at + size);
  }

  #reply(size: number): ReplyReader {
    return new ReplyReader(this.#bytes(size));
  }

  #outcome<T>(size: number, read: (reply: ReplyReader) => T): Outcome<T> {
    if (size === REFUSED) return this.#core.takeAnswer() as Refused;
    return { ok: true, value: read(this.#reply(size)) };
  }

  /** Runs a call that throws the engine's errors as plain objects. */
  #thrown<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw engineError(error);
    }
  }
}

/** An error object of the engine as the package's error; anything else as it is. */
export function engineError(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof Error) return thrown;
  const { code, message, details } = thrown as {
    code: ErrorCode;
    message: string;
    details: Record<string, unknown>;
  };
  return new FencepostError(code, message, { details });
}

function readTask(reply: ReplyReader): TaskReply {
  return reply.task();
}

function readNumber(reply: ReplyReader): number {
  return reply.number();
}

function readNothing(): undefined {
  return undefined;
}

function readSwept(reply: ReplyReader) {
  return { expired: reply.number(), purged: reply.number(), more: reply.flag() };
}

function readPage<T>(reply: ReplyReader, one: (reply: ReplyReader) => T): PageReply<T> {
  const more = reply.flag();
  return { items: reply.rest(one), more };
}

function countsByState(counts: readonly number[]): Record<TaskState, number> {
  const [scheduled = 0, ready = 0, inflight = 0, done = 0, dead = 0] = counts;
  return { scheduled, ready, inflight, done, dead };
}

function phaseOf(state: TaskState | undefined): number {
  return state === undefined ? Number.NaN : TASK_STATES.indexOf(state);
}
