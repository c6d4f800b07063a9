/**
 * The engine behind its border: pack a request, make one call, read the reply. Decides nothing.
 *
 * **Invariant**: after a `WebAssembly.RuntimeError` the instance is poisoned; its owner drops it
 * and never calls it again.
 */

import { ScheduleBridge } from './bridge-schedule.js';
import { readEvent } from './event.js';
import { packRequest } from './packed-requests.js';
import {
  readKeyedValue,
  readLease,
  readNothing,
  readNumber,
  readPage,
  readSwept,
  readValue,
} from './records.js';
import {
  type AcquireRequest,
  type Bridge,
  type CallerRequest,
  type ClaimReference,
  FAMILY,
  type FullName,
  type LeaseReply,
  type Moment,
  type NameListRequest,
  type Outcome,
  type PageReply,
  type RenewRequest,
  type TaskReply,
  type ValueReply,
  type WriteRequest,
} from './requests.js';

export class WasmBridge extends ScheduleBridge implements Bridge {
  leaseAcquire(request: AcquireRequest, { now, caller }: Moment) {
    const packer = this.packer.begin().name(request.name).byte(FAMILY.owner);
    const size = packer.text(request.owner).number(request.ttl).blob(request.meta).size;
    return this.outcome(this.core.leaseAcquire(size, now, caller), (reply) => ({
      token: reply.number(),
      until: reply.number(),
      acquiredAt: reply.number(),
      meta: reply.blob(),
    }));
  }

  leaseRenew(request: RenewRequest, { now, caller }: Moment): Outcome<number> {
    const packer = this.packer.begin().name(request.name).number(request.token);
    const size = packer.number(request.ttl).blob(request.meta).size;
    return this.outcome(this.core.leaseRenew(size, now, caller), readNumber);
  }

  leaseRelease(name: FullName, token: number, { now, caller }: Moment): boolean {
    const size = this.packer.begin().name(name).number(token).size;
    return this.reply(this.core.leaseRelease(size, now, caller)).flag();
  }

  leaseGuardedCommit(
    name: FullName,
    token: number,
    writes: readonly WriteRequest[],
    { now, caller }: Moment,
  ): Outcome<undefined> {
    const packer = this.packer.begin().name(name).number(token);
    const size = packRequest.writes(packer, writes).size;
    return this.outcome(this.core.leaseGuardedCommit(size, now, caller), readNothing);
  }

  leaseStatus(name: FullName, { now, caller }: Moment): LeaseReply | undefined {
    const size = this.packer.begin().name(name).size;
    return this.reply(this.core.leaseStatus(size, now, caller)).rest(readLease)[0];
  }

  leaseList(request: NameListRequest, { now, caller }: Moment): PageReply<LeaseReply> {
    const size = packRequest.nameList(this.packer.begin(), request).size;
    return readPage(this.reply(this.core.leaseList(size, now, caller)), (reply) =>
      reply.rest(readLease),
    );
  }

  kvPut(key: FullName, value: Uint8Array, { now, caller }: Moment): number {
    const size = this.packer.begin().name(key).blob(value).size;
    return this.reply(this.core.kvPut(size, now, caller)).number();
  }

  kvDelete(key: FullName, { now, caller }: Moment): boolean {
    const size = this.packer.begin().name(key).size;
    return this.reply(this.core.kvDelete(size, now, caller)).flag();
  }

  kvGet(key: FullName, { now, caller }: Moment): ValueReply | undefined {
    const size = this.packer.begin().name(key).size;
    const reply = this.reply(this.core.kvGet(size, now, caller));
    return reply.isAtEnd ? undefined : readValue(key.text, reply);
  }

  kvList(request: NameListRequest, { now, caller }: Moment): PageReply<ValueReply> {
    const size = packRequest.nameList(this.packer.begin(), request).size;
    return readPage(this.reply(this.core.kvList(size, now, caller)), (reply) =>
      reply.rest(readKeyedValue),
    );
  }

  txBegin(now: number): number {
    return this.thrown(() => this.core.txBegin(now));
  }

  txCommit(now: number): void {
    this.reply(this.core.txCommit(now));
  }

  txAbort(): void {
    this.core.txAbort();
  }

  txRequireClaim(claim: ClaimReference, { now, caller }: Moment): Outcome<undefined> {
    const size = packRequest.claimReference(this.packer.begin(), claim).size;
    return this.outcome(this.core.txRequireClaim(size, now, caller), readNothing);
  }

  txRequireLease(name: FullName, token: number, { now, caller }: Moment): Outcome<undefined> {
    const size = this.packer.begin().name(name).number(token).size;
    return this.outcome(this.core.txRequireLease(size, now, caller), readNothing);
  }

  txCheck(key: FullName, version: number, { now, caller }: Moment): Outcome<undefined> {
    const size = this.packer.begin().name(key).number(version).size;
    return this.outcome(this.core.txCheck(size, now, caller), readNothing);
  }

  txGet(queue: FullName, id: number, { now, caller }: Moment): TaskReply | undefined {
    const size = this.packer.begin().name(queue).number(id).size;
    return this.reply(this.core.txGet(size, now, caller)).tasks()[0];
  }

  txKvGet(key: FullName, { now, caller }: Moment): ValueReply | undefined {
    const size = this.packer.begin().name(key).size;
    const reply = this.reply(this.core.txKvGet(size, now, caller));
    return reply.isAtEnd ? undefined : readValue(key.text, reply);
  }

  txKvList(request: NameListRequest, { now, caller }: Moment): PageReply<ValueReply> {
    const size = packRequest.nameList(this.packer.begin(), request).size;
    return readPage(this.reply(this.core.txKvList(size, now, caller)), (reply) =>
      reply.rest(readKeyedValue),
    );
  }

  addCaller(caller: CallerRequest): number {
    const size = packRequest.caller(this.packer.begin(), caller).size;
    return this.reply(this.core.addCaller(size)).number();
  }

  removeCaller(caller: number): void {
    this.core.removeCaller(caller);
  }

  checkName(argument: string, name: FullName): void {
    this.thrown(() => this.class.checkName(argument, name.family, name.text));
  }

  found(now: number): void {
    this.thrown(() => this.core.found(now));
  }

  foundFrom(snapshot: Uint8Array, now: number): void {
    this.thrown(() => this.core.foundFrom(snapshot, now));
  }

  takeBytes(): Uint8Array | undefined {
    const size = this.core.takeEntry();
    return size === 0 ? undefined : this.bytes(size);
  }

  takeEntry() {
    const bytes = this.takeBytes();
    const [replica, counter] = this.core.sealedCommit ?? [];
    const tag = this.core.sealedTag;
    if (!bytes || tag === undefined || replica === undefined || counter === undefined) {
      return undefined;
    }
    return { bytes, tag, commit: { replica, counter } };
  }

  mergeSealed(): void {
    this.thrown(() => this.core.mergeSealed());
  }

  merge(entry: Uint8Array): void {
    this.thrown(() => this.core.merge(entry));
  }

  discard(): void {
    this.core.discard();
  }

  snapshot(): Uint8Array {
    return this.core.snapshot();
  }

  restore(snapshot: Uint8Array): void {
    this.thrown(() => this.core.restore(snapshot));
  }

  maintain(now: number) {
    return readSwept(this.reply(this.core.maintain(now)));
  }

  verify(): { ok: boolean; rows: number; problems: string[] } {
    return this.thrown(() => this.core.verify());
  }

  recordEvents(told: number): void {
    this.core.recordEvents(told);
  }

  stopRecording(): void {
    this.core.stopRecording();
  }

  events(caller: number) {
    return this.reply(this.core.events(caller)).rest(readEvent);
  }

  forgetEvents(): void {
    this.core.forgetEvents();
  }

  rowsHash(): string {
    return this.core.rowsHash();
  }

  holds(commit: { replica: number; counter: number }): boolean {
    return this.core.holds(commit.replica, commit.counter);
  }

  get store(): string | undefined {
    return this.core.store;
  }
  get logId(): string {
    return this.core.logId;
  }
  get version(): number {
    return this.core.version;
  }
  get slot(): number {
    return this.core.slot;
  }
  get tag(): Uint8Array {
    return this.core.tag;
  }
  get time(): number {
    return this.core.time;
  }
  get stagedCommands(): number {
    return this.core.stagedCommands;
  }
  get groupIsFull(): boolean {
    return this.core.groupIsFull;
  }
  get nextDue(): number | undefined {
    return this.core.nextDue;
  }

  free(): void {
    this.core.free();
  }
}
