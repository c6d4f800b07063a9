// @ts-check
/**
 * The work: a worker runs `deliverOne` on every task, until nothing is left.
 *
 * **Invariant:** a task is settled only under its own claim, and only while the lease is held: both
 * are asked in the commit that settles it. What cannot be settled is left alone: it comes again
 * under a newer token.
 */
import { once } from 'node:events';
import { attempt } from './attempt.mjs';

/** @typedef {import('./attempt.mjs').DeliveryTask} DeliveryTask */
/** @typedef {import('./attempt.mjs').Verdict} Verdict */
/**
 * @typedef {object} Work
 * @property {import('fencepost').Store} store
 * @property {import('fencepost').Queue<import('./requests.mjs').Delivery, void>} queue
 * @property {string} owner
 * @property {number} concurrency
 * @property {string} origin of the server
 * @property {import('fencepost').Lease} lease
 * @property {AbortSignal} stop claim nothing more, but finish what is running
 * @property {AbortSignal} abort give up what is running, too
 * @property {import('./progress.mjs').Progress} progress
 * @property {(running: number) => void} onStarted called with the number of running tasks
 */

/** How long a claim lasts when its process is killed. */
const CLAIM_MS = 2_000;

/** A receipt is written in the very commit that completes the task. */
export const RECEIPTS = 'receipt/';

/** @param {Work} work */
export async function deliver(work) {
  const { queue, owner, concurrency } = work;
  const [finished, failed] = [new AbortController(), new AbortController()];
  const abort = AbortSignal.any([work.abort, failed.signal]);
  const worker = queue.work(
    async (task, { signal }) => {
      work.onStarted(worker.running);
      await deliverOne(work, task, signal);
      if (await isDone(queue)) finished.abort();
    },
    { owner, concurrency, lease: CLAIM_MS, onError: (error) => failed.abort(error) },
  );
  if (await isDone(queue)) finished.abort();
  await aborted(AbortSignal.any([work.stop, abort, finished.signal]));
  const giveUp = () => worker.stop({ drain: 0 });
  abort.addEventListener('abort', giveUp);
  await (abort.aborted ? giveUp() : worker.stop());
  abort.removeEventListener('abort', giveUp);
  abort.throwIfAborted();
}

/** @param {Work['queue']} queue */
async function isDone(queue) {
  const { scheduled, ready, inflight } = await queue.counts();
  return scheduled + ready + inflight === 0;
}

/**
 * @param {Work} work
 * @param {DeliveryTask} task
 * @param {AbortSignal} signal
 */
async function deliverOne({ store, origin, lease, progress }, task, signal) {
  const verdict = await attempt(origin, task, signal);
  if (signal.aborted) return;
  const settled = await store.transact((tx) => {
    tx.require(lease);
    settle(tx, task, verdict);
  });
  if (settled.ok) progress.count(verdict.kind);
  // The claim or the lease is lost, which the signal is about to say.
  else await aborted(signal);
}

/**
 * @param {import('fencepost').Transaction} tx
 * @param {DeliveryTask} task
 * @param {Verdict} verdict
 */
function settle(tx, task, verdict) {
  if (verdict.kind === 'delivered') {
    const { token, attempt } = task;
    tx.kv.put(RECEIPTS + task.key, { token, attempt, status: verdict.status });
    tx.complete(task);
  } else if (verdict.kind === 'refused') {
    tx.fail(task, verdict.error, { final: true });
  } else {
    tx.fail(task, verdict.error, { delay: verdict.delay });
  }
}

/** @param {AbortSignal} signal */
async function aborted(signal) {
  if (!signal.aborted) await once(signal, 'abort');
}
