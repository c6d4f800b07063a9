/** What the engine alone is asked, as requests: checked like those of a store. */
import { invalid, readBytes, readOptions, requireWhole } from './arguments.js';
import { sharedName } from './names.js';
import { ENQUEUE_OPTIONS, enqueueRequest, PLAIN_QUEUE, requireId } from './options.js';
import type { Bridge, EnqueueRequest, FullName, Moment, TaskReply } from './requests.js';
import type { EnqueueOptions } from './types.js';

/** A task to be; its options are those of `queue.enqueue`. */
export interface RawEnqueue extends EnqueueOptions {
  queue: string;
  payload: Uint8Array;
}

/** Names a claim: the task, and the token that its `queueClaim` answered. */
export interface RawClaim {
  queue: string;
  id: number;
  token: number;
}

/** A task that is claimed now, and what its claim brought. */
export interface RawClaimed extends TaskReply {
  readonly queue: string;
  readonly token: number;
  readonly owner: string;
  readonly deadline: number;
  readonly claimedAt: number;
}

const ENQUEUE_FIELDS = ['queue', 'payload', ...ENQUEUE_OPTIONS] as const;

export function root(now: number): Moment {
  return { now: requireWhole('now', now, 0), caller: 0 };
}

const RAW_QUEUE = {
  ...PLAIN_QUEUE,
  codec: { name: undefined, encode: readBytes, decode: (bytes: Uint8Array) => bytes },
};

export function readRawEnqueue(argument: string, value: unknown): EnqueueRequest {
  const given = readOptions(argument, value, ENQUEUE_FIELDS);
  return enqueueRequest(sharedName('queue', given.queue), RAW_QUEUE, given.payload, given);
}

/** Its fields are listed where they are used: an object begun by a spread is slow to make. */
export function readClaim(given: { queue?: unknown; id?: unknown; token?: unknown }) {
  return {
    queue: sharedName('queue', given.queue),
    id: requireId(given.id),
    token: requireWhole('token', given.token, 0),
  };
}

export function optionalBytes(argument: string, value: unknown): Uint8Array | undefined {
  return value === undefined ? undefined : readBytes(value, argument);
}

/** In place of an engine whose memory was given back. */
export const FREED = new Proxy({} as Bridge, {
  get() {
    throw invalid('engine', 'one that was not freed', 'a call after free()');
  },
});

/** A task with the queue that it was claimed from. */
export function claimedFrom(task: TaskReply, queue: FullName): RawClaimed {
  return Object.assign(task, { queue: queue.text }) as RawClaimed;
}
