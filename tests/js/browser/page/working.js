/** A worker in the page's store, and what its handlers do and see. */
import { NonRetriable, RetryAfter } from 'fencepost';
import { theStore } from './work.js';

const BREATH_MS = 200;
let worker = null;
let stopping = null;
/** What each handler saw, in the order of their beginnings. */
const runs = [];
/** Lets handlers that wait go on. */
let letGo = null;
const gate = new Promise((resolve) => {
  letGo = resolve;
});

const queue = () => theStore().queue('work');
const breath = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const DEEDS = {
  return: ({ value }) => value,
  fail() {
    throw new Error('not now');
  },
  bury() {
    throw new NonRetriable('never');
  },
  retryAfter({ ms }) {
    throw new RetryAfter(ms);
  },
  wait: () => gate,
  /** Waits until it is told that nobody wants it any more. */
  listen: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
  /** The first attempt stops this whole tab for a while; the next one returns at once. */
  async block({ ms, value }, { signal }, task, run) {
    if (task.attempt > 1) return value;
    // Nothing of the store may be under way: a tab in the middle of a transaction holds others up.
    await breath(BREATH_MS);
    const end = performance.now() + ms;
    while (performance.now() < end);
    run.blockedUntil = Date.now();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    run.refusal = (await task.complete('late')).reason;
    return 'later still';
  },
};

async function handle(task, context) {
  const { id, attempt, token, payload } = task;
  const run = { id, attempt, token, signal: context.signal };
  runs.push(run);
  return DEEDS[payload.deed](payload, context, task, run);
}

export function startWorking(options) {
  worker = queue().work(handle, options);
}

/** Begins to stop, which is waited for later. */
export function beginStop() {
  stopping = worker.stop();
}

export async function endOfStop() {
  await stopping;
  await worker.stop();
  return worker.running;
}

export function letHandlersGo() {
  letGo();
}

export async function untilIdle() {
  await worker.idle();
}

/** What the handlers of this page saw. */
export function runsOfPage() {
  return runs.map(({ signal, ...run }) => {
    const { code, details } = signal.aborted ? signal.reason : {};
    return { ...run, code: code ?? null, reason: details?.reason ?? null };
  });
}

/** Enqueues one task for each payload. Answers their ids. */
export async function enqueueJobs(...payloads) {
  const options = { resultRetention: 3_600_000 };
  const made = await queue().enqueueMany(payloads.map((payload) => ({ payload, options })));
  return made.map(({ id }) => id);
}

/** The row, as soon as the task is in this state. */
export async function rowWhen(id, state) {
  const events = theStore().events();
  try {
    for (;;) {
      const news = events.next();
      const row = await queue().get(id);
      if (row?.state === state) return row;
      await news;
    }
  } finally {
    events.return();
  }
}

export async function rowOf(id) {
  return queue().get(id);
}

/** Waits for so many more renewals of a claim. */
export async function untilRenewed(id, times) {
  let left = times;
  for await (const event of theStore().events()) {
    if (event.type === 'heartbeat' && event.id === id) left -= 1;
    if (left === 0) return;
  }
}

export async function cancel(id, reason) {
  return queue().cancel(id, reason);
}

const now = () => performance.timeOrigin + performance.now();
const latencies = [];

/** How long each task of `enqueueTimed` was under way when its handler began, in milliseconds. */
export function startTiming() {
  worker = theStore()
    .queue('timed')
    .work(({ payload }) => void latencies.push(now() - payload));
}

export function timings() {
  return latencies;
}

/** One after the other: each is over before the next is enqueued. */
export async function enqueueTimed(count) {
  const timed = theStore().queue('timed', { resultRetention: 3_600_000 });
  for (let left = count; left > 0; left -= 1) {
    const { id } = await timed.enqueue(now());
    await timed.result(id);
  }
}
