/**
 * A worker in a thread of its own, with its own handle on the store: to freeze or to crash it stops
 * its renewals for real.
 */
import { open, type Store, type Task } from 'fencepost';
import {
  type Job,
  LEASE_MS,
  type Order,
  type Parcel,
  QUEUE,
  type Report,
  STORE,
  type Start,
} from './protocol.js';

const STEPS = 10;
/** How long it stands still where it can't be thawed: well past its lease. */
const BUSY_MS = 3 * LEASE_MS;

let ice: Start['ice'];
let store: Store | null = null;

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  const obeying = 'freeze' in data ? freeze() : start(data.start);
  obeying.catch((error: unknown) => report(String(error)));
});

async function start({ owner, ice: shared, ...job }: Start): Promise<void> {
  ice = shared;
  store = await open(STORE);
  const queue = store.queue<Parcel>(QUEUE);
  queue.work((task, { signal }) => deliver(task, job, signal), { owner, lease: LEASE_MS });
  report('waits for a task');
}

/** Settles its task itself, so that it can tell what the store answered. */
async function deliver(task: Task<Parcel>, job: Job, signal: AbortSignal): Promise<void> {
  const what = `task ${task.id}, attempt ${task.attempt}, token ${task.token}`;
  const fails = Math.random() * 100 < job.failures;
  for (let step = 1; step <= STEPS && !signal.aborted; step += 1) {
    report(`${what}: ${step} of ${STEPS}`);
    await pause(job.duration / STEPS, signal);
    if (!signal.aborted) await task.heartbeat({ progress: { step, of: STEPS } });
  }
  const answer = fails ? await task.fail('the parcel fell off the cart') : await task.complete();
  const outcome = fails ? 'failed' : 'delivered';
  if (answer.ok) report(`${what}: ${outcome}`);
  else report('waits for a task', `${what}: refused, ${answer.reason}`);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Nothing in this thread runs meanwhile, timers included. It begins right after a commit: a thread
 * that stands still in the middle of one keeps its transaction, and every tab waits.
 */
async function freeze(): Promise<void> {
  await store?.sync();
  report('is frozen');
  if (ice !== undefined) {
    Atomics.wait(ice, 0, 1);
  } else {
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
  }
  report('thawed');
}

function report(doing: string, refusal?: string): void {
  const message: Report = { doing, refusal };
  postMessage(message);
}
