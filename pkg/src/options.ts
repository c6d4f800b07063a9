/**
 * What users pass, as requests of the engine: checked, encoded, and captured by value, so that
 * changing an object later changes nothing.
 */

import {
  invalid,
  optionalChoice,
  optionalFlag,
  optionalRetention,
  optionalWhole,
  readOptions,
  requireArray,
  requireWhole,
  SAFE_MAX,
} from './arguments.js';
import { JSON_CODEC, type RowCodec, readCodec } from './codec.js';
import { errorText } from './codec-error.js';
import { FencepostError, shown } from './errors.js';
import { requireName, sharedName } from './names.js';
import { timeOf } from './realm.js';
import {
  type ClaimReference,
  type EnqueueRequest,
  type FailRequest,
  type FullName,
  JITTERS,
  type NameListRequest,
  type StampsRequest,
  type WriteRequest,
} from './requests.js';
import { readWrites } from './writes.js';

export const BATCH_MAX = 10_000;
const PAGE_MAX = 1_000;
const PAGE_DEFAULT = 100;

export const STAMPS = [
  'lease',
  'maxAttempts',
  'backoff',
  'deadRetention',
  'resultRetention',
  'keyRetention',
] as const;
type StampName = (typeof STAMPS)[number];
const QUEUE_OPTIONS = [...STAMPS, 'codec'] as const;
const FOLLOW_UP_OPTIONS = [...STAMPS, 'delay', 'runAt', 'priority', 'key', 'expiresIn'] as const;
export const ENQUEUE_OPTIONS = [...FOLLOW_UP_OPTIONS, 'writes'] as const;

const NO_STAMPS: StampsRequest = {
  lease: Number.NaN,
  maxAttempts: Number.NaN,
  backoffBase: Number.NaN,
  backoffMax: Number.NaN,
  jitter: 'equal',
  deadRetention: Number.NaN,
  resultRetention: Number.NaN,
  keyRetention: Number.NaN,
};

/** Of outbox queues: patient, because the other side is somebody else's. */
export const OUTBOX_STAMPS: StampsRequest = {
  ...NO_STAMPS,
  lease: 60_000,
  maxAttempts: 5,
  backoffBase: 5_000,
};

/** What a queue handle adds to every enqueue. */
export interface QueueDefaults {
  readonly stamps: StampsRequest;
  readonly codec: RowCodec;
}

export const PLAIN_QUEUE: QueueDefaults = { stamps: NO_STAMPS, codec: JSON_CODEC };
export const OUTBOX_QUEUE: QueueDefaults = { stamps: OUTBOX_STAMPS, codec: JSON_CODEC };

/** The options of a handle over what was declared. */
export function readQueueOptions(value: unknown, declared = PLAIN_QUEUE): QueueDefaults {
  if (value === undefined) return declared;
  const options = readOptions('options', value, QUEUE_OPTIONS);
  const codec = options.codec === undefined ? declared.codec : readCodec(options.codec);
  return { stamps: readStamps(options, declared.stamps), codec };
}

/** The options of one task over those of its queue. */
function readStamps(
  options: { [name in StampName]?: unknown },
  queue: StampsRequest,
): StampsRequest {
  if (!asksForStamps(options)) return queue;
  const own = (value: number, inherited: number) => (Number.isNaN(value) ? inherited : value);
  const backoff = readOptions('backoff', options.backoff, ['base', 'max', 'jitter']);
  const retention = (name: 'deadRetention' | 'resultRetention' | 'keyRetention') =>
    own(optionalRetention(name, options[name]), queue[name]);
  return {
    lease: own(optionalWhole('lease', options.lease, 0), queue.lease),
    maxAttempts: own(optionalWhole('maxAttempts', options.maxAttempts, 1), queue.maxAttempts),
    backoffBase: own(optionalWhole('backoff.base', backoff.base, 0), queue.backoffBase),
    backoffMax: own(optionalWhole('backoff.max', backoff.max, 0), queue.backoffMax),
    jitter: optionalChoice('backoff.jitter', backoff.jitter, JITTERS) ?? queue.jitter,
    deadRetention: retention('deadRetention'),
    resultRetention: retention('resultRetention'),
    keyRetention: retention('keyRetention'),
  };
}

/** Each by its name: a loop over the names costs more than all the rest of an enqueue's options. */
function asksForStamps(options: { [name in StampName]?: unknown }): boolean {
  return (
    options.lease !== undefined ||
    options.maxAttempts !== undefined ||
    options.backoff !== undefined ||
    options.deadRetention !== undefined ||
    options.resultRetention !== undefined ||
    options.keyRetention !== undefined
  );
}

/** `mayWrite`: whether the option `writes` is there at all. */
export function readEnqueue(
  queue: FullName,
  defaults: QueueDefaults,
  payload: unknown,
  value: unknown,
  mayWrite: 'with writes' | 'without writes',
  item?: string,
): EnqueueRequest {
  const known = mayWrite === 'with writes' ? ENQUEUE_OPTIONS : FOLLOW_UP_OPTIONS;
  try {
    const options = value === undefined ? undefined : readOptions('options', value, known);
    return enqueueRequest(queue, defaults, payload, options);
  } catch (error) {
    throw item === undefined ? error : withinItem(item, error);
  }
}

/** The same error, about an item: its argument is named behind `item`. */
function withinItem(item: string, error: unknown): unknown {
  if (!(error instanceof FencepostError)) return error;
  const { argument } = error.details;
  if (typeof argument !== 'string' || !error.message.startsWith(argument)) return error;
  const isTop = argument === 'payload' || argument === 'options' || argument.startsWith('codec');
  const place = isTop ? item : `${item}options.`;
  const details = { ...error.details, argument: `${place}${argument}` };
  return new FencepostError(error.code, `${place}${error.message}`, {
    cause: error.cause,
    details,
  });
}

/** A request from options whose names were checked. */
export function enqueueRequest(
  queue: FullName,
  defaults: QueueDefaults,
  payload: unknown,
  options: { [name in (typeof ENQUEUE_OPTIONS)[number]]?: unknown } | undefined,
): EnqueueRequest {
  if (payload === undefined) throw invalid('payload', 'a value', 'undefined');
  const bytes = defaults.codec.encode(payload, 'payload');
  const [codec, stamps] = [defaults.codec.name, defaults.stamps];
  if (options === undefined) {
    const { key, priority, delay, runAt, expiresIn, writes } = NOTHING_ASKED;
    const payload = bytes;
    return { queue, payload, codec, key, priority, delay, runAt, expiresIn, stamps, writes };
  }
  return {
    queue,
    payload: bytes,
    codec,
    key: options.key === undefined ? undefined : requireName('key', options.key),
    priority: optionalWhole('priority', options.priority, -SAFE_MAX),
    delay: readDelay(options.delay),
    runAt: readInstant('runAt', options.runAt),
    expiresIn: optionalWhole('expiresIn', options.expiresIn, 1),
    stamps: readStamps(options, stamps),
    writes: readWrites(options.writes),
  };
}

const NOTHING_ASKED = {
  key: undefined,
  priority: Number.NaN,
  delay: Number.NaN,
  runAt: Number.NaN,
  expiresIn: Number.NaN,
  writes: [] as WriteRequest[],
};

/** A failure, from options whose names were checked. */
export function failRequest(
  error: unknown,
  { delay, final, writes }: { delay?: unknown; final?: unknown; writes?: unknown },
): Omit<FailRequest, keyof ClaimReference> {
  return {
    error: errorText(error),
    delay: readDelay(delay),
    final: optionalFlag('final', final),
    writes: readWrites(writes),
  };
}

/** Negative means at once. */
export function readDelay(value: unknown): number {
  if (value === undefined) return Number.NaN;
  return Math.max(0, requireWhole('delay', value, -SAFE_MAX));
}

/** A Date, or milliseconds since the epoch. */
export function readInstant(argument: string, value: unknown): number {
  if (value === undefined) return Number.NaN;
  const dated = timeOf(value);
  const time: unknown = dated ?? value;
  if (Number.isSafeInteger(time) && (time as number) >= 0) return (time as number) + 0;
  const got = dated !== undefined ? `a Date at ${time}` : shown(value);
  throw invalid(argument, 'a Date or whole milliseconds, from 1970 on', got);
}

/** `defaultsOf`: how tasks of a queue are stamped and encoded. */
export function readFollowUps(
  value: unknown,
  defaultsOf: (queue: FullName) => QueueDefaults,
): EnqueueRequest[] {
  if (value === undefined) return [];
  return requireArray('followUps', value, BATCH_MAX).map((item, index) => {
    const argument = `followUps[${index}]`;
    if (typeof item !== 'object' || item === null)
      throw invalid(argument, 'an object', shown(item));
    const followUp = readOptions(argument, item, ['queue', 'payload', 'options', 'codec']);
    const queue = sharedName('queue', followUp.queue);
    const declared = defaultsOf(queue);
    const codec = followUp.codec === undefined ? declared.codec : readCodec(followUp.codec);
    const defaults = { ...declared, codec };
    const { payload, options } = followUp;
    return readEnqueue(queue, defaults, payload, options, 'without writes', `${argument}.`);
  });
}

/** A page's size: cut to what one page may hold. */
export function readLimit(value: unknown): number {
  return value === undefined ? PAGE_DEFAULT : Math.min(PAGE_MAX, requireWhole('limit', value, 0));
}

export function readNameList(value: unknown): NameListRequest {
  const options = readOptions('options', value, ['prefix', 'cursor', 'limit']);
  return {
    prefix: options.prefix === undefined ? '' : requireName('prefix', options.prefix),
    cursor: options.cursor === undefined ? undefined : requireName('cursor', options.cursor),
    limit: readLimit(options.limit),
  };
}

/** A cursor of a list of tasks: the id after which the page begins. */
export function readIdCursor(value: unknown): number {
  if (value === undefined) return Number.NaN;
  const id = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw invalid('cursor', 'the cursor of an earlier page', shown(value));
}

/** How many to claim: negative means none. */
export function readClaimMax(value: unknown): number {
  if (value === undefined) return 1;
  return Math.min(PAGE_MAX, Math.max(0, requireWhole('max', value, -SAFE_MAX)));
}

export function readIds(value: unknown): number[] | undefined {
  if (value === undefined) return undefined;
  return requireArray('ids', value, BATCH_MAX).map((id, at) => requireWhole(`ids[${at}]`, id, 0));
}

export function requireId(value: unknown): number {
  return requireWhole('id', value, 0);
}
