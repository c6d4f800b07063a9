/** Reads packed events. The order of the fields is that of `src/wasm/records.rs`. */
import type { ReplyReader } from './records.js';
import type { StoreEvent } from './types.js';

/** Types in the order of the engine's numbers. */
const EVENT_TYPES = [
  'enqueued',
  'claimed',
  'heartbeat',
  'completed',
  'retried',
  'released',
  'dead',
  'cancelled',
  'redriven',
  'purged',
  'paused',
  'resumed',
  'lease-acquired',
  'lease-renewed',
  'lease-released',
  'kv-put',
  'kv-deleted',
  'scheduled',
  'unscheduled',
  'fired',
  'rescheduled',
  'gap',
] as const satisfies readonly StoreEvent['type'][];

export function readEvent(reply: ReplyReader): StoreEvent {
  const type = EVENT_TYPES[reply.number()];
  if (type === undefined) throw new Error('the engine tells of an event that nobody knows');
  const event: StoreEvent = { version: reply.number(), at: reply.number(), type };
  const [id, token] = [reply.optional(), reply.optional()];
  const [queue, name, key] = [reply.text(), reply.text(), reply.text()];
  const [owner, reason] = [reply.text(), reply.text()];
  if (queue !== undefined) event.queue = queue;
  if (id !== undefined) event.id = id;
  if (name !== undefined) event.name = name;
  if (key !== undefined) event.key = key;
  if (owner !== undefined) event.owner = owner;
  if (token !== undefined) event.token = token;
  if (reason !== undefined) event.reason = reason;
  return event;
}
