/** Rows of tasks as users see them. Payload and result are decoded when somebody looks. */
import { decodeJson, type RowCodec, requireSameCodec } from './codec.js';
import type { TaskReply } from './requests.js';
import type { TaskRecord } from './types.js';

/** Only what applies to the state is there. */
export function taskRecord(queue: string, reply: TaskReply, codec: RowCodec): TaskRecord {
  const record = {
    id: reply.id,
    seq: reply.seq,
    queue,
    state: reply.state,
    priority: reply.priority,
    attempt: reply.attempt,
    maxAttempts: reply.maxAttempts,
    runAt: reply.runAt,
    enqueuedAt: reply.createdAt,
    createdAt: reply.createdAt,
    updatedAt: reply.updatedAt,
  };
  for (const name of OPTIONAL) {
    const value = reply[name];
    if (value !== undefined) Object.assign(record, { [name]: value });
  }
  const { progress, result } = reply;
  if (progress !== undefined) Object.assign(record, { progress: decodeJson(progress) });
  const decode = (bytes: Uint8Array) => {
    requireSameCodec(codec, reply.codec);
    return codec.decode(bytes);
  };
  defineLazily(record, 'payload', () => decode(reply.payload));
  if (result !== undefined) defineLazily(record, 'result', () => decode(result));
  return record as TaskRecord;
}

const OPTIONAL = [
  'token',
  'owner',
  'deadline',
  'claimedAt',
  'lastOwner',
  'expiresAt',
  'key',
  'lastError',
  'diedAt',
  'deadReason',
  'boundary',
] as const;

/** A property that is worked out once, on first access. */
export function defineLazily(object: object, name: string, read: () => unknown): void {
  Object.defineProperty(object, name, {
    enumerable: true,
    configurable: true,
    get() {
      const value = read();
      Object.defineProperty(object, name, { value, enumerable: true });
      return value;
    },
  });
}
