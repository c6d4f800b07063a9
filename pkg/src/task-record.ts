/** Rows of tasks as users see them. Payload and result are decoded when somebody looks. */
import { decodeJson, type RowCodec, requireSameCodec } from './codec.js';
import type { TaskReply } from './requests.js';
import type { TaskRecord } from './types.js';

/** Fields that are shown as they are; those that do not apply to the state are absent. */
const FIELDS = [
  'id',
  'seq',
  'state',
  'priority',
  'attempt',
  'maxAttempts',
  'runAt',
  'createdAt',
  'updatedAt',
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

export function taskRecord(queue: string, reply: TaskReply, codec: RowCodec): TaskRecord {
  const record: { [field: string]: unknown } = { queue, enqueuedAt: reply.createdAt };
  for (const field of FIELDS) if (reply[field] !== undefined) record[field] = reply[field];
  if (reply.lapsed) record.lapsed = true;
  const { progress, result } = reply;
  if (progress !== undefined) record.progress = decodeJson(progress);
  const decode = (bytes: Uint8Array) => {
    requireSameCodec(codec, reply.codec);
    return codec.decode(bytes);
  };
  defineLazily(record, 'payload', () => decode(reply.payload));
  if (result !== undefined) defineLazily(record, 'result', () => decode(result));
  return record as object as TaskRecord;
}

/** A property that is worked out once, on first access. */
function defineLazily(object: object, name: string, read: () => unknown): void {
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
