/** Schedules as users write and see them. */

import { invalid, optionalChoice, readOptions, requireText } from './arguments.js';
import { NOW_MAX } from './clock.js';
import { decodeJson, readCodec } from './codec.js';
import { type Grid, gridOf, hindranceOf } from './cron.js';
import { FencepostError, quote, shown } from './errors.js';
import { requireName, sharedName } from './names.js';
import { enqueueRequest, PLAIN_QUEUE, STAMPS } from './options.js';
import { timeOf } from './realm.js';
import type { FullName, StampsRequest } from './requests.js';
import {
  CATCH_UPS,
  type ScheduleReply,
  type ScheduleRequest,
  WHEN_KINDS,
  type WhenRequest,
} from './requests-schedule.js';
import type { Backoff, ScheduleRecord, Stamps, When } from './types.js';

export const ZONE_DEFAULT = 'UTC';
const JOB_FIELDS = [
  ...STAMPS,
  'queue',
  'payload',
  'codec',
  'priority',
  'expiresIn',
  'catchUp',
] as const;
/** As in `src/id.rs`: for ever. */
const FOREVER = Number.MAX_SAFE_INTEGER;
/** The defaults of the engine: what equals them is left out of records. */
const DEFAULTS = {
  lease: 300_000,
  maxAttempts: 3,
  deadRetention: Infinity,
  resultRetention: 0,
  keyRetention: 86_400_000,
} as const;
const BACKOFF_DEFAULTS = { base: 5_000, max: 3_600_000, jitter: 'equal' } as const;

/**
 * A registration; `cron` works the grid out once the parser is loaded, and is absent for others.
 *
 * @throws FencepostError `INVALID_SCHEDULE`, `INVALID_ARGUMENT`, `INVALID_NAME`
 */
export function readSchedule(
  name: unknown,
  when: unknown,
  job: unknown,
  stampsOf: (queue: FullName) => StampsRequest,
): { request: ScheduleRequest; cron: (() => Grid) | undefined } {
  const schedule = sharedName('name', name);
  const asked = readWhen(when);
  if (job === undefined) throw invalid('job', 'an object', 'undefined');
  const given = readOptions('job', job, JOB_FIELDS);
  const queue = sharedName('queue', given.queue);
  const codec = readCodec(given.codec);
  const defaults = { ...PLAIN_QUEUE, stamps: stampsOf(queue), codec };
  const request = {
    name: schedule,
    when: asked,
    catchUp: optionalChoice('catchUp', given.catchUp, CATCH_UPS) ?? 'all',
    job: enqueueRequest(queue, defaults, given.payload, given),
  };
  if (asked.kind !== 'cron') return { request, cron: undefined };
  return { request, cron: () => gridOf(asked.expression, asked.timeZone) };
}

function readWhen(value: unknown): WhenRequest {
  const kinds = WHEN_KINDS.map(quote).join(', ');
  if (typeof value !== 'object' || value === null || shown(value) === 'an array') {
    throw invalidWhen('when', `an object with one of ${kinds}`, shown(value));
  }
  const given = copyOf(value);
  const known: readonly string[] = [...WHEN_KINDS, 'timeZone'];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw invalidWhen(
      'when',
      `one of ${known.join(', ')}`,
      `the unknown property ${quote(unknown)}`,
    );
  }
  const named = WHEN_KINDS.filter((kind) => given[kind] !== undefined);
  const [kind] = named;
  if (kind === undefined || named.length > 1) {
    throw invalidWhen('when', `exactly one of ${kinds}`, `${named.length} of them`);
  }
  if (given.timeZone !== undefined && kind !== 'cron') {
    throw invalidWhen('when.timeZone', 'nothing beside "every" or "at"', shown(given.timeZone));
  }
  return readKind(kind, given);
}

function copyOf(when: object): { [name: string]: unknown } {
  try {
    return { __proto__: null, ...when };
  } catch {
    throw invalidWhen('when', 'an object that can be read', 'one that threw');
  }
}

function readKind(kind: WhenRequest['kind'], given: { [name: string]: unknown }): WhenRequest {
  switch (kind) {
    case 'every':
      return { kind, interval: wholeWhen('when.every', given.every, 1) };
    case 'at': {
      const { at } = given;
      return { kind, instant: wholeWhen('when.at', timeOf(at) ?? at, 0) };
    }
    case 'cron': {
      const timeZone = given.timeZone === undefined ? ZONE_DEFAULT : given.timeZone;
      return {
        kind,
        expression: textWhen('when.cron', given.cron),
        timeZone: textWhen('when.timeZone', timeZone),
      };
    }
  }
}

function wholeWhen(argument: string, value: unknown, min: number): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= min;
  if (isWhole && (value as number) <= NOW_MAX) return value === 0 ? 0 : (value as number);
  throw invalidWhen(argument, `a whole number from ${min} on, before the year 2200`, shown(value));
}

function textWhen(argument: string, value: unknown): string {
  try {
    return requireName(argument, requireText(argument, value));
  } catch {
    throw invalidWhen(argument, 'well-formed text', shown(value));
  }
}

function invalidWhen(argument: string, expected: string, got: string): FencepostError {
  const message = `${argument}: expected ${expected}, got ${got}`;
  return new FencepostError('INVALID_SCHEDULE', message, { details: { argument } });
}

/** A schedule as it is shown. */
export function scheduleRecord(reply: ScheduleReply): ScheduleRecord {
  const { name, when, next = null, lastFiredAt, fired } = reply;
  const record: ScheduleRecord = { name, when: shownWhen(when), job: shownJob(reply), next, fired };
  if (lastFiredAt !== undefined) record.lastFiredAt = lastFiredAt;
  const hindrance = when.kind === 'cron' ? hindranceOf(when) : undefined;
  if (hindrance !== undefined) record.unfired = hindrance.message;
  return record;
}

function shownWhen(when: WhenRequest): When {
  switch (when.kind) {
    case 'every':
      return { every: when.interval };
    case 'at':
      return { at: when.instant };
    case 'cron':
      return { cron: when.expression, timeZone: when.timeZone };
  }
}

function shownJob(reply: ScheduleReply): ScheduleRecord['job'] {
  const { queue, payload, codec, priority, expiresIn, catchUp, stamps } = reply;
  // Only whoever registered it has the codec.
  const shown = codec === undefined ? { payload: decodeJson(payload) } : { payload, codec };
  const job: ScheduleRecord['job'] = { queue, ...shown, ...shownStamps(stamps) };
  if (priority !== 0) job.priority = priority;
  if (expiresIn !== undefined) job.expiresIn = expiresIn;
  if (catchUp !== 'all') job.catchUp = catchUp;
  return job;
}

function shownStamps(stamps: StampsRequest): Stamps {
  const shown: Stamps = {};
  for (const name of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
    const value = stamps[name] === FOREVER ? Infinity : stamps[name];
    if (value !== DEFAULTS[name]) shown[name] = value;
  }
  const { backoffBase: base, backoffMax: max, jitter } = stamps;
  const backoff: Backoff = {};
  if (base !== BACKOFF_DEFAULTS.base) backoff.base = base;
  if (max !== BACKOFF_DEFAULTS.max) backoff.max = max;
  if (jitter !== BACKOFF_DEFAULTS.jitter) backoff.jitter = jitter;
  if (Object.keys(backoff).length > 0) shown.backoff = backoff;
  return shown;
}
