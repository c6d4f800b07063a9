// @ts-check
/**
 * The zombie: a worker that claims a task, falls asleep over it, and wakes up when another one has
 * long settled the task. It knows nothing of that, so it does what it was about to do: it sends the
 * request and wants to complete the task, both under the token it was given.
 *
 * **Invariant:** its claim is in the store before any work is done, so that a zombie that a kill
 * has kept from waking up wakes up in the next process.
 */
import { put } from 'fencepost';
import { attempt } from './attempt.mjs';

/** @typedef {import('./deliver.mjs').Work} Work */
/** @typedef {{ id: number, key: string, token: number }} Claimed */

const ZOMBIE = 'zombie';
/** Nobody renews it, so it lapses while others work. */
const CLAIM_MS = 500;

/** @param {Pick<Work, 'store' | 'queue' | 'lease'>} work */
export async function fallAsleep({ store, queue, lease }) {
  if ((await store.kv.get(ZOMBIE)) !== null) return;
  const [task] = await queue.claim('zombie', { max: 1, lease: CLAIM_MS });
  if (task === undefined) return;
  const { id, key, token } = task;
  await lease.guardedCommit([put(ZOMBIE, { id, key: String(key), token })]);
}

/**
 * @param {Work} work
 * @param {import('./requests.mjs').RecordedRequest[]} requests
 * @returns {Promise<string | null>} what became of it in words; null when no zombie was asleep
 */
export async function wakeUp({ store, queue, origin, abort }, requests) {
  const found = await store.kv.get(ZOMBIE);
  if (found === null) return null;
  const { id, key, token } = /** @type {Claimed} */ (found.value);
  const payload = requests.find((request) => request.id === key);
  if (payload === undefined) return null;
  const sent = await attempt(origin, { key, token, payload }, abort);
  const settled = await store.transact((tx) => tx.complete({ queue: queue.name, id, token }));
  return [
    `A zombie slept over ${key} and sends it only now.`,
    `  Its token: ${token}`,
    `  The server: ${sent.kind === 'delivered' ? sent.status : sent.error}`,
    `  The queue, asked to complete it: ${settled.ok ? 'done' : settled.reason}`,
  ].join('\n');
}
