// @ts-check
/** The lease `deliver`: whoever holds it works the queue, everybody else waits. */

/** @typedef {import('fencepost').Store} Store */
/** @typedef {import('fencepost').Lease} Lease */

/** A killed holder keeps its successor waiting for at most this long. */
const TTL_MS = 2_000;

/**
 * Waits until nobody else holds the lease, and holds it while `body` runs.
 * @template T
 * @param {Store} store
 * @param {string} owner
 * @param {{ signal: AbortSignal, onWait: (holder: { owner?: string, until?: number }) => void }} o
 * @param {(lease: Lease) => Promise<T>} body
 */
export async function lead(store, owner, { signal, onWait }, body) {
  const name = store.lease('deliver');
  const first = await name.acquire(owner, { ttl: TTL_MS, signal });
  if (!first.ok) onWait(first);
  return name.hold(owner, { ttl: TTL_MS, signal }, body);
}
