/** The operations on queues, over the border. */

import { Border } from './border.js';
import { packRequest } from './packed-requests.js';
import { readEnqueued, readNothing, readNumber, readPage, readSwept, stateAt } from './records.js';
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
  type Outcome,
  type PageReply,
  TASK_STATES,
  type TaskListRequest,
  type TaskReply,
  type TaskState,
} from './requests.js';

export abstract class QueueBridge extends Border {
  queueEnqueue(request: EnqueueRequest, { now, caller }: Moment): EnqueuedReply {
    const size = packRequest.enqueue(this.packer.begin(), request).size;
    return readEnqueued(this.reply(this.core.queueEnqueue(size, now, caller)));
  }

  queueEnqueueMany(requests: readonly EnqueueRequest[], { now, caller }: Moment): EnqueuedReply[] {
    const size = packRequest.enqueues(this.packer.begin(), requests).size;
    return this.reply(this.core.queueEnqueueMany(size, now, caller)).rest(readEnqueued);
  }

  queueClaim(request: ClaimRequest, { now, caller }: Moment): TaskReply[] {
    const packer = this.packer.begin().name(request.queue).byte(FAMILY.owner);
    const size = packer.text(request.owner).number(request.max).number(request.lease).size;
    return this.reply(this.core.queueClaim(size, now, caller)).tasks();
  }

  queueComplete(request: CompleteRequest, { now, caller }: Moment): Outcome<EnqueuedReply[]> {
    const size = packRequest.complete(this.packer.begin(), request).size;
    return this.outcome(this.core.queueComplete(size, now, caller), (reply) =>
      reply.rest(readEnqueued),
    );
  }

  queueCompleteMany(claims: readonly ClaimReference[], { now, caller }: Moment): number {
    const packer = this.packer.begin().count(claims.length);
    for (const claim of claims) packRequest.claimReference(packer, claim);
    return this.reply(this.core.queueCompleteMany(packer.size, now, caller)).number();
  }

  queueFail(
    request: FailRequest,
    { now, caller }: Moment,
  ): Outcome<{ state: TaskState; runAt?: number }> {
    const size = packRequest.fail(this.packer.begin(), request).size;
    return this.outcome(this.core.queueFail(size, now, caller), (reply) => {
      const state = stateAt(reply.number()) ?? 'dead';
      const runAt = reply.optional();
      return runAt === undefined ? { state } : { state, runAt };
    });
  }

  queueHeartbeat(request: HeartbeatRequest, { now, caller }: Moment): Outcome<number> {
    const packer = packRequest.claimReference(this.packer.begin(), request);
    const size = packer.number(request.extend).blob(request.progress).size;
    return this.outcome(this.core.queueHeartbeat(size, now, caller), readNumber);
  }

  queueRelease(claim: ClaimReference, { now, caller }: Moment): Outcome<undefined> {
    const size = packRequest.claimReference(this.packer.begin(), claim).size;
    return this.outcome(this.core.queueRelease(size, now, caller), readNothing);
  }

  queueAbandon(claim: ClaimReference, { now, caller }: Moment): Outcome<undefined> {
    const size = packRequest.claimReference(this.packer.begin(), claim).size;
    return this.outcome(this.core.queueAbandon(size, now, caller), readNothing);
  }

  queueCancel(
    queue: FullName,
    id: number,
    reason: string | undefined,
    { now, caller }: Moment,
  ): boolean {
    const size = this.packer.begin().name(queue).number(id).text(reason).size;
    return this.reply(this.core.queueCancel(size, now, caller)).flag();
  }

  queueSweep(queue: FullName, { now, caller }: Moment) {
    const size = this.packer.begin().name(queue).size;
    return readSwept(this.reply(this.core.queueSweep(size, now, caller)));
  }

  queueRedrive(
    queue: FullName,
    limit: number,
    ids: readonly number[] | undefined,
    { now, caller }: Moment,
  ): number {
    const packer = this.packer.begin().name(queue).number(limit);
    const size = packRequest.ids(packer, ids).size;
    return this.reply(this.core.queueRedrive(size, now, caller)).number();
  }

  queuePurge(
    queue: FullName,
    state: 'dead' | 'done' | undefined,
    ids: readonly number[] | undefined,
    { now, caller }: Moment,
  ): number {
    const packer = this.packer.begin().name(queue).number(phaseOf(state));
    const size = packRequest.ids(packer, ids).size;
    return this.reply(this.core.queuePurge(size, now, caller)).number();
  }

  queuePause(queue: FullName, paused: boolean, { now, caller }: Moment): void {
    const size = this.packer.begin().name(queue).flag(paused).size;
    this.reply(this.core.queuePause(size, now, caller));
  }

  queueGet(queue: FullName, id: number, { now, caller }: Moment): TaskReply | undefined {
    const size = this.packer.begin().name(queue).number(id).size;
    return this.reply(this.core.queueGet(size, now, caller)).tasks()[0];
  }

  queueList(request: TaskListRequest, { now, caller }: Moment): PageReply<TaskReply> {
    const packer = this.packer.begin().name(request.queue).number(phaseOf(request.state));
    const size = packer.number(request.cursor).number(request.limit).size;
    return readPage(this.reply(this.core.queueList(size, now, caller)), (reply) => reply.tasks());
  }

  queueCounts(queue: FullName, { now, caller }: Moment): Record<TaskState, number> {
    const size = this.packer.begin().name(queue).size;
    const reply = this.reply(this.core.queueCounts(size, now, caller));
    return countsByState(reply.rest(readNumber));
  }

  queueNextDue(queue: FullName, { now, caller }: Moment): number | undefined {
    const size = this.packer.begin().name(queue).size;
    return this.reply(this.core.queueNextDue(size, now, caller)).optional();
  }

  queueExplain(queue: FullName, id: number, { now, caller }: Moment) {
    return this.thrown((): { state: TaskState; because: string; until?: number } | undefined =>
      this.core.queueExplain(queue.family, queue.text, id, now, caller),
    );
  }

  removalOf(id: number) {
    return this.thrown((): { cause: 'cancelled' | 'buried'; reason?: string } | undefined =>
      this.core.removalOf(id),
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
    const summaries = this.thrown((): Summary[] => this.core.queues(now, caller));
    return summaries.map((summary) => ({ ...summary, counts: countsByState(summary.counts) }));
  }
}

function countsByState(counts: readonly number[]): Record<TaskState, number> {
  const [scheduled = 0, ready = 0, inflight = 0, done = 0, dead = 0] = counts;
  return { scheduled, ready, inflight, done, dead };
}

function phaseOf(state: TaskState | undefined): number {
  return state === undefined ? Number.NaN : TASK_STATES.indexOf(state);
}
