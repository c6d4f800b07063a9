/** The operations on schedules, over the border. */
import { QueueBridge } from './bridge-queue.js';
import * as operation from './operations.js';
import { packRequest } from './packed-requests.js';
import type { Packer } from './packing.js';
import type { ReplyReader } from './records.js';
import {
  FAMILY,
  type FullName,
  JITTERS,
  type Moment,
  ROOT,
  type StampsRequest,
} from './requests.js';
import {
  CATCH_UPS,
  type CronReply,
  type FiredReply,
  type PassedRequest,
  type ScheduleOperations,
  type ScheduleReply,
  type ScheduleRequest,
  WHEN_KINDS,
  type WhenRequest,
} from './requests-schedule.js';

export abstract class ScheduleBridge extends QueueBridge implements ScheduleOperations {
  schedulePut(request: ScheduleRequest, first: number, at: Moment): ScheduleReply {
    const packer = packWhen(this.packer.begin().name(request.name), request.when);
    packer.number(first).byte(CATCH_UPS.indexOf(request.catchUp));
    packRequest.enqueue(packer, request.job);
    return readSchedule(this.call(operation.schedulePut, at));
  }

  scheduleRemove(name: FullName, at: Moment): boolean {
    this.packer.begin().name(name);
    return this.call(operation.scheduleRemove, at).flag();
  }

  scheduleGet(name: FullName, at: Moment): ScheduleReply | undefined {
    this.packer.begin().name(name);
    return this.call(operation.scheduleGet, at).rest(readSchedule)[0];
  }

  scheduleList(at: Moment): ScheduleReply[] {
    return this.call(operation.scheduleList, at).rest(readSchedule);
  }

  cronList(now: number): CronReply[] {
    return this.call(operation.cronList, { now, caller: ROOT }).rest(readCron);
  }

  fireDue(now: number): FiredReply {
    return readFired(this.call(operation.fireDue, { now, caller: ROOT }));
  }

  fireCron(name: string, { oldest, newest, next }: PassedRequest, now: number): FiredReply {
    const packer = this.packer.begin().byte(FAMILY.shared).text(name).count(oldest.length);
    for (const boundary of oldest) packer.number(boundary);
    packer.number(newest).number(next);
    return readFired(this.call(operation.fireCron, { now, caller: ROOT }));
  }

  repairClock(now: number, crons: readonly { name: string; next: number }[]): boolean {
    const packer = this.packer.begin().count(crons.length);
    for (const { name, next } of crons) packer.byte(FAMILY.shared).text(name).number(next);
    return this.call(operation.repairClock, { now, caller: ROOT }).flag();
  }

  get nextCron(): number | undefined {
    return this.call(operation.nextCron).optional();
  }
}

function packWhen(packer: Packer, when: WhenRequest): Packer {
  packer.byte(WHEN_KINDS.indexOf(when.kind));
  switch (when.kind) {
    case 'every':
      return packer.number(when.interval).text(undefined).text(undefined);
    case 'cron':
      return packer.number(Number.NaN).text(when.expression).text(when.timeZone);
    case 'at':
      return packer.number(when.instant).text(undefined).text(undefined);
  }
}

interface WhenFields {
  readonly kind: WhenRequest['kind'];
  readonly expression: string;
  readonly timeZone: string;
}

function readHead(reply: ReplyReader) {
  return {
    name: reply.text() ?? '',
    next: reply.optional(),
    kind: WHEN_KINDS[reply.byte()] ?? 'at',
    expression: reply.text() ?? '',
    timeZone: reply.text() ?? '',
  };
}

function readCron(reply: ReplyReader): CronReply {
  const { name, next = Number.NaN, expression, timeZone } = readHead(reply);
  return { name, next, expression, timeZone };
}

function readSchedule(reply: ReplyReader): ScheduleReply {
  const { name, next, ...when } = readHead(reply);
  return {
    name,
    next,
    when: whenOf(when, reply.number()),
    lastFiredAt: reply.optional(),
    fired: reply.number(),
    catchUp: CATCH_UPS[reply.byte()] ?? 'all',
    queue: reply.text() ?? '',
    priority: reply.number(),
    expiresIn: reply.optional(),
    codec: reply.text(),
    stamps: readStamps(reply),
    payload: reply.blob() ?? new Uint8Array(),
  };
}

function whenOf({ kind, expression, timeZone }: WhenFields, number: number): WhenRequest {
  switch (kind) {
    case 'every':
      return { kind, interval: number };
    case 'cron':
      return { kind, expression, timeZone };
    case 'at':
      return { kind, instant: number };
  }
}

function readStamps(reply: ReplyReader): StampsRequest {
  return {
    lease: reply.number(),
    maxAttempts: reply.number(),
    backoffBase: reply.number(),
    backoffMax: reply.number(),
    jitter: JITTERS[reply.byte()] ?? 'equal',
    deadRetention: reply.number(),
    resultRetention: reply.number(),
    keyRetention: reply.number(),
  };
}

function readFired(reply: ReplyReader): FiredReply {
  return { tasks: reply.number(), more: reply.flag() };
}
