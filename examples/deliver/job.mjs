// @ts-check
/** The job from its start to the table: lead, enqueue, deliver, check, report. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { deliver } from './deliver.mjs';
import { lead } from './leadership.mjs';
import { readOutcome } from './outcome.mjs';
import { readRecord } from './record.mjs';
import { table } from './report.mjs';
import { startServer } from './server-process.mjs';
import { verify } from './verify.mjs';
import { tellMiddle } from './worker-process.mjs';
import { fallAsleep, wakeUp } from './zombie.mjs';

/** @typedef {import('./requests.mjs').RecordedRequest} RecordedRequest */
/** @typedef {import('./progress.mjs').Progress} Progress */
/**
 * @typedef {object} Job
 * @property {import('./run.mjs').Run} run
 * @property {RecordedRequest[]} requests
 * @property {number} concurrency
 * @property {boolean} calm
 * @property {Progress} progress
 * @property {AbortSignal} stop
 */

/** Every claim is an attempt, also one that a killed process left behind: so there is room. */
const ATTEMPTS_MAX = 50;

/** A retry comes soon, so that the whole job takes seconds. */
const BACKOFF = { base: 150, max: 2_000 };

const PROBLEMS_SHOWN_MAX = 10;

/** A worker that is to be killed is killed when so much of the job is done. */
const KILLED_AT_SHARE = 0.25;

/**
 * @param {Job} job
 * @returns {Promise<boolean>} whether all is well; a stopped job is
 */
export async function perform(job) {
  const { run, progress, stop } = job;
  const owner = `deliver-${process.pid}-${randomBytes(3).toString('hex')}`;
  /** @param {{ owner?: string, until?: number }} holder */
  const onWait = ({ owner: holder = 'somebody', until = 0 }) => {
    const seconds = (Math.max(0, until - Date.now()) / 1000).toFixed(1);
    progress.note(`${holder} still holds the lease: it lapses in ${seconds} s.`);
  };
  return lead(run.store, owner, { signal: stop, onWait }, (lease) => performLed(job, owner, lease));
}

/**
 * @param {Job} job
 * @param {string} owner
 * @param {import('fencepost').Lease} lease
 */
async function performLed(job, owner, lease) {
  const { run, progress, stop } = job;
  await run.begin(lease);
  const queue = await fill(job);
  if (!run.isFinished) await work(job, owner, lease, queue);
  if (stop.aborted) {
    await run.leave(lease);
    return true;
  }

  const outcome = await readOutcome(run.store, queue);
  const record = readRecord(run.record);
  const problems = verify(job.requests, outcome, record);
  const written = await run.written();
  const { killed } = run;
  const { pace } = progress;
  process.stdout.write(`${table({ outcome, record, killed, written, problems, pace })}\n`);
  tell(problems);
  if (problems.length === 0) await run.finish(lease);
  return problems.length === 0;
}

/**
 * Enqueues each request once, however often it is called: the key is the request's id.
 * @param {Job} job
 */
async function fill({ run, requests, progress }) {
  /** @type {import('./deliver.mjs').Work['queue']} */
  const queue = run.store.queue('deliveries', {
    maxAttempts: ATTEMPTS_MAX,
    backoff: BACKOFF,
    keyRetention: Infinity,
  });
  const enqueued = await queue.enqueueMany(
    requests.map(({ id, ...payload }) => ({ payload, options: { key: id } })),
  );
  const created = enqueued.filter((task) => task.created).length;
  const known = enqueued.length - created;
  if (known === 0) progress.note(`Enqueued ${created} requests.`);
  else if (created === 0) progress.note(`All ${known} requests were enqueued before.`);
  else progress.note(`Enqueued ${created} requests; ${known} were there already.`);
  return queue;
}

/**
 * @param {Job} job
 * @param {string} owner
 * @param {import('fencepost').Lease} lease
 * @param {import('./deliver.mjs').Work['queue']} queue
 */
async function work(job, owner, lease, queue) {
  const { run, requests, concurrency, calm, progress, stop } = job;
  const { delivered, dead } = await readOutcome(run.store, queue);
  // The server starts once the lease is ours. Until then a killed run's lease had to lapse, and so
  // that run's server has long ended: no two of them ever write the record.
  const server = await startServer({ record: run.record, seed: run.mark.seed });
  progress.note(`The server listens on ${server.origin} (process ${server.pid}).`);
  progress.start({ total: requests.length, delivered: delivered.size, dead: dead.size });
  try {
    const abort = AbortSignal.any([lease.signal, server.died]);
    const { origin } = server;
    const { store } = run;
    const { onStarted, killed } = victim(job);
    const parts = { store, queue, owner, concurrency, origin, lease };
    const work = { ...parts, stop, abort, progress, onStarted };
    if (!calm) await fallAsleep(work);
    await deliver(work);
    if (stop.aborted) return;
    await killed();
    const late = calm ? null : await wakeUp(work, requests);
    if (late !== null) progress.note(late);
  } finally {
    progress.end();
    await server.stop();
  }
}

/**
 * The first worker of a run is killed: it tells its parent when it is in the middle of its work,
 * and does not end before it is killed, or stopped.
 * @param {Job} job
 */
function victim({ run, calm, progress, stop }) {
  let isChosen = !calm && run.killed === 0 && process.send !== undefined;
  /** @type {Promise<unknown> | undefined} */
  let end;
  return {
    /** @param {number} running */
    onStarted(running) {
      progress.update({ running });
      if (!isChosen || !progress.has(KILLED_AT_SHARE)) return;
      isChosen = false;
      tellMiddle({ running });
      end = once(stop, 'abort');
    },
    killed: async () => end,
  };
}

/** @param {string[]} problems */
function tell(problems) {
  if (problems.length === 0) return;
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  const more = problems.length - shown.length;
  process.stderr.write(
    [
      "The check failed: the queue and the server's record tell different stories.",
      ...shown.map((problem) => `  ${problem}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
      '',
    ].join('\n'),
  );
}
