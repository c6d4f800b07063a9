// @ts-check
/**
 * The loop: claim into free slots, attempt, settle, until nothing is left.
 *
 * **Invariant:** a task is settled only under its own claim, and only while the lease is held. What
 * cannot be settled is left alone: its claim lapses, and it comes again under a newer token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { put } from 'fencepost';
import { attempt } from './attempt.mjs';
import { HeldClaim } from './claim.mjs';

/** @typedef {import('./attempt.mjs').DeliveryTask} DeliveryTask */
/** @typedef {import('./attempt.mjs').Verdict} Verdict */
/**
 * @typedef {object} Work
 * @property {import('fencepost').Queue<import('./requests.mjs').Delivery, void>} queue
 * @property {string} owner
 * @property {number} concurrency
 * @property {string} origin of the server
 * @property {import('./leadership.mjs').Leadership} leadership
 * @property {AbortSignal} stop claim nothing more, but finish what is running
 * @property {AbortSignal} abort give up what is running, too
 * @property {import('./progress.mjs').Progress} progress
 */

/** How soon to look again while slots are free: for retries that fall due and claims that lapse. */
const LOOK_AGAIN_MS = 50;

/** A receipt is written in the very commit that completes the task. */
export const RECEIPTS = 'receipt/';

/** @param {Work} work */
export async function deliver(work) {
  /** @type {Set<Promise<void>>} */
  const running = new Set();
  const failed = new AbortController();
  const stop = AbortSignal.any([work.stop, work.abort, failed.signal]);
  while (!stop.aborted) {
    const free = work.concurrency - running.size;
    const tasks = await work.queue.claim(work.owner, { max: free });
    for (const task of tasks) {
      const run = deliverOne(work, task)
        .catch((error) => failed.abort(error))
        .finally(() => running.delete(run));
      running.add(run);
    }
    work.progress.update({ running: running.size });
    if (running.size === 0 && (await isDone(work.queue))) break;
    await somethingHappened(running, work.concurrency);
  }
  await Promise.all(running);
  failed.signal.throwIfAborted();
  work.abort.throwIfAborted();
}

/** @param {Work['queue']} queue */
async function isDone(queue) {
  const { scheduled, ready, inflight } = await queue.counts();
  return scheduled + ready + inflight === 0;
}

/**
 * @param {Set<Promise<void>>} running
 * @param {number} concurrency
 */
async function somethingHappened(running, concurrency) {
  const isFull = running.size === concurrency;
  await Promise.race(isFull ? running : [...running, sleep(LOOK_AGAIN_MS)]);
}

/**
 * @param {Work} work
 * @param {DeliveryTask} task
 */
async function deliverOne(work, task) {
  const claim = new HeldClaim(task);
  const giveUp = AbortSignal.any([claim.lost, work.abort]);
  const verdict = await attempt(work.origin, task, giveUp);
  await claim.stop();
  if (giveUp.aborted || !(await work.leadership.confirm())) return;
  const settled = await settle(task, verdict);
  if (settled.ok) work.progress.count(verdict.kind);
}

/**
 * @param {DeliveryTask} task
 * @param {Verdict} verdict
 */
function settle(task, verdict) {
  if (verdict.kind === 'delivered') {
    const receipt = { token: task.token, attempt: task.attempt, status: verdict.status };
    return task.complete(undefined, { writes: [put(RECEIPTS + task.key, receipt)] });
  }
  if (verdict.kind === 'refused') return task.fail(verdict.error, { final: true });
  return task.fail(verdict.error, { delay: verdict.delay });
}
