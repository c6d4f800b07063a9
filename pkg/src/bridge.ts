/**
 * The engine behind its border: pack a request, make one call, read the reply. Decides nothing.
 *
 * **Invariant**: after a `WebAssembly.RuntimeError` the instance is poisoned; its owner drops it
 * and never calls it again.
 */

import { ScheduleBridge } from './bridge-schedule.js';
import { readEvent } from './event.js';
import * as operation from './operations.js';
import { packRequest } from './packed-requests.js';
import {
  hex,
  readKeyedValue,
  readLease,
  readNothing,
  readNumber,
  readPage,
  readSwept,
  readText,
  readValue,
} from './records.js';
import {
  type AcquireRequest,
  type Bridge,
  type CallerRequest,
  type ClaimReference,
  type EntryRoom,
  FAMILY,
  type FullName,
  type LeaseReply,
  type Moment,
  NAME_ARGUMENTS,
  type NameArgument,
  type NameListRequest,
  type Outcome,
  type PageReply,
  type RenewRequest,
  ROOT,
  type StartRequest,
  type TaskReply,
  type ValueReply,
  type WriteRequest,
} from './requests.js';
import type { UsageReply } from './requests-snapshot.js';
import type { Touched } from './wakes.js';

/** Where the fields of `operation.head` lie. */
const HEAD = {
  version: 0,
  slot: 8,
  time: 16,
  staged: 24,
  isFull: 32,
  tag: 33,
  isRestoring: 65,
  store: 66,
} as const;
const TAG_BYTES = HEAD.isRestoring - HEAD.tag;
const LOG_ID_BYTES = TAG_BYTES / 2;

export class WasmBridge extends ScheduleBridge implements Bridge {
  /** Comes first: says whose engine it is. */
  start({ store, seed, replica, maxPayloadBytes, maxStoreBytes }: StartRequest): void {
    this.packer.begin().byte(FAMILY.shared).text(store).bits(seed);
    this.packer.number(replica).number(maxPayloadBytes).number(maxStoreBytes);
    this.call(operation.start);
  }

  leaseAcquire(request: AcquireRequest, at: Moment) {
    this.packer.begin().name(request.name).byte(FAMILY.owner);
    this.packer.text(request.owner).number(request.ttl).blob(request.meta);
    return this.outcome(operation.leaseAcquire, at, (reply) => ({
      token: reply.number(),
      until: reply.number(),
      acquiredAt: reply.number(),
      meta: reply.blob(),
    }));
  }

  leaseRenew(request: RenewRequest, at: Moment): Outcome<number> {
    this.packer.begin().name(request.name).number(request.token);
    this.packer.number(request.ttl).blob(request.meta);
    return this.outcome(operation.leaseRenew, at, readNumber);
  }

  leaseRelease(name: FullName, token: number, at: Moment): boolean {
    this.packer.begin().name(name).number(token);
    return this.call(operation.leaseRelease, at).flag();
  }

  leaseGuardedCommit(
    name: FullName,
    token: number,
    writes: readonly WriteRequest[],
    at: Moment,
  ): Outcome<undefined> {
    packRequest.writes(this.packer.begin().name(name).number(token), writes);
    return this.outcome(operation.leaseGuardedCommit, at, readNothing);
  }

  leaseStatus(name: FullName, at: Moment): LeaseReply | undefined {
    this.packer.begin().name(name);
    return this.call(operation.leaseStatus, at).rest(readLease)[0];
  }

  leaseList(request: NameListRequest, at: Moment): PageReply<LeaseReply> {
    packRequest.nameList(this.packer.begin(), request);
    return readPage(this.call(operation.leaseList, at), (reply) => reply.rest(readLease));
  }

  kvPut(key: FullName, value: Uint8Array, at: Moment): number {
    this.packer.begin().name(key).blob(value);
    return this.call(operation.kvPut, at).number();
  }

  kvDelete(key: FullName, at: Moment): boolean {
    this.packer.begin().name(key);
    return this.call(operation.kvDelete, at).flag();
  }

  kvGet(key: FullName, at: Moment): ValueReply | undefined {
    return this.#value(operation.kvGet, key, at);
  }

  kvList(request: NameListRequest, at: Moment): PageReply<ValueReply> {
    return this.#values(operation.kvList, request, at);
  }

  #value(which: number, key: FullName, at: Moment): ValueReply | undefined {
    this.packer.begin().name(key);
    const reply = this.call(which, at);
    return reply.isAtEnd ? undefined : readValue(key.text, reply);
  }

  #values(which: number, request: NameListRequest, at: Moment): PageReply<ValueReply> {
    packRequest.nameList(this.packer.begin(), request);
    return readPage(this.call(which, at), (reply) => reply.rest(readKeyedValue));
  }

  txBegin(now: number): number {
    return this.call(operation.txBegin, { now, caller: ROOT }).number();
  }

  txCommit(now: number): void {
    this.call(operation.txCommit, { now, caller: ROOT });
  }

  txAbort(): void {
    this.call(operation.txAbort);
  }

  txRequireClaim(claim: ClaimReference, at: Moment): Outcome<undefined> {
    packRequest.claimReference(this.packer.begin(), claim);
    return this.outcome(operation.txRequireClaim, at, readNothing);
  }

  txRequireLease(name: FullName, token: number, at: Moment): Outcome<undefined> {
    this.packer.begin().name(name).number(token);
    return this.outcome(operation.txRequireLease, at, readNothing);
  }

  txCheck(key: FullName, version: number, at: Moment): Outcome<undefined> {
    this.packer.begin().name(key).number(version);
    return this.outcome(operation.txCheck, at, readNothing);
  }

  txGet(queue: FullName, id: number, at: Moment): TaskReply | undefined {
    this.packer.begin().name(queue).number(id);
    return this.call(operation.txGet, at).tasks()[0];
  }

  txKvGet(key: FullName, at: Moment): ValueReply | undefined {
    return this.#value(operation.txKvGet, key, at);
  }

  txKvList(request: NameListRequest, at: Moment): PageReply<ValueReply> {
    return this.#values(operation.txKvList, request, at);
  }

  addCaller(caller: CallerRequest): number {
    packRequest.caller(this.packer.begin(), caller);
    return this.call(operation.addCaller).number();
  }

  removeCaller(caller: number): void {
    this.call(operation.removeCaller, { now: 0, caller });
  }

  checkName(argument: NameArgument, name: FullName): void {
    this.packer.begin().byte(NAME_ARGUMENTS.indexOf(argument)).name(name);
    this.call(operation.checkName);
  }

  found(now: number): void {
    this.call(operation.found, { now, caller: ROOT });
  }

  foundRestoring(now: number): void {
    this.call(operation.foundRestoring, { now, caller: ROOT });
  }

  adopt(entry: Uint8Array): void {
    this.packer.begin().rest(entry);
    this.call(operation.adopt);
  }

  takeBytes(room?: EntryRoom): Uint8Array | undefined {
    const reply = this.call(operation.takeEntry);
    return reply.isAtEnd ? undefined : reply.beside(room);
  }

  takeEntry() {
    const reply = this.call(operation.takeEntry);
    if (reply.isAtEnd) return undefined;
    const [bytes, tag] = [reply.beside(), reply.raw(TAG_BYTES)];
    return { bytes, tag, commit: { replica: reply.number(), counter: reply.number() } };
  }

  mergeSealed(): void {
    this.call(operation.mergeSealed);
  }

  merge(entry: Uint8Array): void {
    this.packer.begin().rest(entry);
    this.call(operation.merge);
  }

  discard(): void {
    this.call(operation.discard);
  }

  beginSnapshot(): { id: number; slot: number } {
    const reply = this.call(operation.snapshotBegin);
    return { id: reply.number(), slot: reply.number() };
  }

  snapshotPart(id: number): { bytes: Uint8Array; isLast: boolean } | undefined {
    this.packer.begin().number(id);
    const reply = this.call(operation.snapshotPart);
    return reply.isAtEnd ? undefined : { bytes: reply.beside(), isLast: reply.flag() };
  }

  endSnapshot(id: number): void {
    this.packer.begin().number(id);
    this.call(operation.snapshotEnd);
  }

  beginRestore(): void {
    this.call(operation.restoreBegin);
  }

  restorePart(bytes: Uint8Array): void {
    this.packer.begin().rest(bytes);
    this.call(operation.restorePart);
  }

  endRestore(): void {
    this.call(operation.restoreEnd);
  }

  maintain(now: number) {
    return readSwept(this.call(operation.maintain, { now, caller: ROOT }));
  }

  reclaim(since: number, now: number): boolean {
    this.packer.begin().number(since);
    return this.call(operation.reclaim, { now, caller: ROOT }).flag();
  }

  verify(): { ok: boolean; rows: number; problems: string[] } {
    const reply = this.call(operation.verify);
    const [rows, problems] = [reply.number(), reply.rest(readText)];
    return { ok: problems.length === 0, rows, problems };
  }

  usage(): UsageReply {
    const reply = this.call(operation.usage);
    const [bytes, limit] = [reply.number(), reply.number()];
    const amount = () => ({ rows: reply.number(), bytes: reply.number() });
    return {
      bytes,
      limit,
      tasks: amount(),
      payloads: amount(),
      results: amount(),
      keys: amount(),
      values: amount(),
      leases: amount(),
      schedules: amount(),
      queues: amount(),
    };
  }

  recordEvents(told: number): void {
    this.packer.begin().number(told);
    this.call(operation.recordEvents);
  }

  stopRecording(): void {
    this.call(operation.stopRecording);
  }

  events(caller: number) {
    return this.call(operation.events, { now: 0, caller }).rest(readEvent);
  }

  touched(): Touched | null {
    const reply = this.call(operation.touched);
    const isEverything = reply.flag();
    const names = () => Array.from({ length: reply.count() }, () => readText(reply));
    const touched = { queues: names(), leases: names(), tasks: reply.rest(readNumber) };
    return isEverything ? null : touched;
  }

  forgetEvents(): void {
    this.call(operation.forgetEvents);
  }

  rowsHash(): string {
    return readText(this.call(operation.rowsHash));
  }

  holds({ replica, counter }: { replica: number; counter: number }): boolean {
    this.packer.begin().number(replica).number(counter);
    return this.call(operation.holds).flag();
  }

  get store(): string | undefined {
    return this.#head(HEAD.store).text();
  }
  get logId(): string {
    return hex(this.tag.subarray(0, LOG_ID_BYTES));
  }
  get version(): number {
    return this.#head(HEAD.version).number();
  }
  get slot(): number {
    return this.#head(HEAD.slot).number();
  }
  get tag(): Uint8Array {
    return this.#head(HEAD.tag).raw(TAG_BYTES);
  }
  get isRestoring(): boolean {
    return this.#head(HEAD.isRestoring).flag();
  }
  get time(): number {
    return this.#head(HEAD.time).number();
  }
  get stagedCommands(): number {
    return this.#head(HEAD.staged).number();
  }
  get groupIsFull(): boolean {
    return this.#head(HEAD.isFull).flag();
  }
  get newestToken(): number {
    return this.call(operation.newestToken).number();
  }
  get nextDue(): number | undefined {
    return this.call(operation.nextDue).optional();
  }

  #head(at: number) {
    return this.call(operation.head).skip(at);
  }
}
