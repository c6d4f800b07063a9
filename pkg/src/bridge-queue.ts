/** The operations on queues, over the border. */

import { Border } from './border.js';
import * as operation from './operations.js';
import { packRequest } from './packed-requests.js';
import {
  type ReplyReader,
  readEnqueued,
  readNothing,
  readNumber,
  readPage,
  readPurged,
  readSwept,
  readText,
  stateAt,
} from './records.js';
import {
  type ClaimReference,
  type ClaimRequest,
  type CompleteRequest,
  type EnqueuedReply,
  type EnqueueRequest,
  FAMILY,
  type FailRequest,
  type FullName,
  type HeartbeatRequest,
  type Moment,
  ORDERS,
  type Outcome,
  type PageReply,
  type QueueReply,
  TASK_STATES,
  type TaskListRequest,
  type TaskReply,
  type TaskState,
} from './requests.js';
import type { TaskCounts } from './types.js';

export abstract class QueueBridge extends Border {
  queueEnqueue(request: EnqueueRequest, at: Moment): EnqueuedReply {
    packRequest.enqueue(this.packer.begin(), request);
    return readEnqueued(this.call(operation.queueEnqueue, at));
  }

  queueEnqueueMany(requests: readonly EnqueueRequest[], at: Moment): EnqueuedReply[] {
    packRequest.enqueues(this.packer.begin(), requests);
    return this.call(operation.queueEnqueueMany, at).rest(readEnqueued);
  }

  queueClaim(request: ClaimRequest, at: Moment): TaskReply[] {
    const packer = this.packer.begin().name(request.queue).byte(FAMILY.owner);
    packer.text(request.owner).number(request.max).number(request.lease);
    return this.call(operation.queueClaim, at).tasks();
  }

  queueComplete(request: CompleteRequest, at: Moment): Outcome<EnqueuedReply[]> {
    packRequest.complete(this.packer.begin(), request);
    return this.outcome(operation.queueComplete, at, (reply) => reply.rest(readEnqueued));
  }

  queueCompleteMany(claims: readonly ClaimReference[], at: Moment): number {
    const packer = this.packer.begin().count(claims.length);
    for (const claim of claims) packRequest.claimReference(packer, claim);
    return this.call(operation.queueCompleteMany, at).number();
  }

  queueFail(request: FailRequest, at: Moment): Outcome<{ state: TaskState; runAt?: number }> {
    packRequest.fail(this.packer.begin(), request);
    return this.outcome(operation.queueFail, at, (reply) => {
      const state = stateAt(reply.number()) ?? 'dead';
      const runAt = reply.optional();
      return runAt === undefined ? { state } : { state, runAt };
    });
  }

  queueHeartbeat(request: HeartbeatRequest, at: Moment): Outcome<number> {
    const packer = packRequest.claimReference(this.packer.begin(), request);
    packer.number(request.extend).blob(request.progress);
    return this.outcome(operation.queueHeartbeat, at, readNumber);
  }

  queueRelease(claim: ClaimReference, delay: number, at: Moment): Outcome<undefined> {
    packRequest.claimReference(this.packer.begin(), claim).number(delay);
    return this.outcome(operation.queueRelease, at, readNothing);
  }

  queueAbandon(claim: ClaimReference, at: Moment): Outcome<undefined> {
    packRequest.claimReference(this.packer.begin(), claim);
    return this.outcome(operation.queueAbandon, at, readNothing);
  }

  queueCancel(queue: FullName, id: number, reason: string | undefined, at: Moment): boolean {
    this.packer.begin().name(queue).number(id).text(reason);
    return this.call(operation.queueCancel, at).flag();
  }

  queueSweep(queue: FullName, at: Moment) {
    this.packer.begin().name(queue);
    return readSwept(this.call(operation.queueSweep, at));
  }

  queueRedrive(
    queue: FullName,
    { limit, after, ids }: { limit: number; after: number; ids: readonly number[] | undefined },
    at: Moment,
  ) {
    const packer = this.packer.begin().name(queue).number(limit).number(after);
    packRequest.ids(packer, ids);
    const reply = this.call(operation.queueRedrive, at);
    return { ...readPurged(reply), last: reply.number() };
  }

  queuePurge(
    queue: FullName,
    state: 'dead' | 'done' | undefined,
    ids: readonly number[] | undefined,
    at: Moment,
  ) {
    const packer = this.packer.begin().name(queue).number(phaseOf(state));
    packRequest.ids(packer, ids);
    return readPurged(this.call(operation.queuePurge, at));
  }

  queuePromote(queue: FullName, ids: readonly number[], at: Moment): number {
    packRequest.ids(this.packer.begin().name(queue), ids);
    return this.call(operation.queuePromote, at).number();
  }

  queueReschedule(queue: FullName, id: number, runAt: number, at: Moment): boolean {
    this.packer.begin().name(queue).number(id).number(runAt);
    return this.call(operation.queueReschedule, at).flag();
  }

  queueByKey(queue: FullName, key: string, at: Moment): TaskReply | undefined {
    this.packer.begin().name(queue).byte(FAMILY.key).text(key);
    return this.call(operation.queueByKey, at).tasks()[0];
  }

  queuePause(queue: FullName, paused: boolean, at: Moment): void {
    this.packer.begin().name(queue).flag(paused);
    this.call(operation.queuePause, at);
  }

  queueGet(queue: FullName, id: number, at: Moment): TaskReply | undefined {
    this.packer.begin().name(queue).number(id);
    return this.call(operation.queueGet, at).tasks()[0];
  }

  queueList(request: TaskListRequest, at: Moment): PageReply<TaskReply> {
    const packer = this.packer.begin().name(request.queue).number(phaseOf(request.state));
    packer.number(request.cursor).number(request.limit).byte(ORDERS.indexOf(request.order));
    return readPage(this.call(operation.queueList, at), (reply) => reply.tasks());
  }

  queueCounts(queue: FullName, at: Moment): TaskCounts {
    this.packer.begin().name(queue);
    const reply = this.call(operation.queueCounts, at);
    return countsByState(reply.rest(readNumber));
  }

  queueNextDue(queue: FullName, at: Moment): number | undefined {
    this.packer.begin().name(queue);
    return this.call(operation.queueNextDue, at).optional();
  }

  queueExplain(queue: FullName, id: number, at: Moment) {
    this.packer.begin().name(queue).number(id);
    return this.call(operation.queueExplain, at).rest(readExplanation)[0];
  }

  removalOf(id: number) {
    this.packer.begin().number(id);
    return this.call(operation.removalOf).rest(readRemoval)[0];
  }

  queueMayWork(queue: FullName, at: Moment): void {
    this.packer.begin().name(queue);
    this.call(operation.queueMayWork, at);
  }

  queueOf(id: number): string | undefined {
    this.packer.begin().number(id);
    return this.call(operation.queueOf).rest(readText)[0];
  }

  queues(at: Moment) {
    return this.call(operation.queues, at).rest(readSummary);
  }
}

function readExplanation(reply: ReplyReader) {
  const state = stateAt(reply.number()) ?? 'done';
  const because = readText(reply);
  const until = reply.optional();
  return until === undefined ? { state, because } : { state, because, until };
}

function readRemoval(reply: ReplyReader): { cause: 'cancelled' | 'buried'; reason?: string } {
  const cause = reply.text() === 'buried' ? 'buried' : 'cancelled';
  const reason = reply.text();
  return reason === undefined ? { cause } : { cause, reason };
}

function readSummary(reply: ReplyReader): QueueReply {
  const summary: QueueReply = {
    name: readText(reply),
    counts: countsByState([...TASK_STATES, 'lapsed'].map(() => reply.number())),
    paused: reply.flag(),
  };
  const [oldestReadyAt, nextDue] = [reply.optional(), reply.optional()];
  if (oldestReadyAt !== undefined) summary.oldestReadyAt = oldestReadyAt;
  if (nextDue !== undefined) summary.nextDue = nextDue;
  return summary;
}

function countsByState(counts: readonly number[]): TaskCounts {
  const [scheduled = 0, ready = 0, inflight = 0, done = 0, dead = 0, lapsed = 0] = counts;
  return { scheduled, ready, inflight, done, dead, lapsed };
}

function phaseOf(state: TaskState | undefined): number {
  return state === undefined ? Number.NaN : TASK_STATES.indexOf(state);
}
