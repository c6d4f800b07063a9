/** Mixed load: enqueue, claim, complete, in a row and without a pause. */
import { theStore } from './work.js';

const QUEUE = 'load';
const LEASE_MS = 60_000;

/**
 * Works from the wall clock's `start` to its `end`. Answers the ids this page enqueued, id and
 * token of each task it completed, how many commands were acknowledged and the longest one.
 */
export async function work(owner, start, end) {
  const queue = theStore().queue(QUEUE, { lease: LEASE_MS });
  const seen = { enqueued: [], completed: [], refused: 0, commands: 0, longest_ms: 0 };
  await new Promise((resolve) => setTimeout(resolve, start - Date.now()));
  while (Date.now() < end) {
    const { id } = await timed(seen, () => queue.enqueue({ owner }));
    seen.enqueued.push(id);
    const tasks = await timed(seen, () => queue.claim(owner, { max: 2 }));
    for (const task of tasks) await completeOne(seen, task);
  }
  return seen;
}

/** Completes what is left over. */
export async function drainMore(owner) {
  const queue = theStore().queue(QUEUE, { lease: LEASE_MS });
  const seen = { enqueued: [], completed: [], refused: 0, commands: 0, longest_ms: 0 };
  for (;;) {
    const tasks = await timed(seen, () => queue.claim(owner, { max: 100 }));
    if (tasks.length === 0) return seen;
    for (const task of tasks) await completeOne(seen, task);
  }
}

async function completeOne(seen, task) {
  const outcome = await timed(seen, () => task.complete());
  if (outcome.ok) seen.completed.push([task.id, task.token]);
  else seen.refused += 1;
}

async function timed(seen, command) {
  const started_ms = performance.now();
  const answer = await command();
  seen.commands += 1;
  seen.longest_ms = Math.max(seen.longest_ms, performance.now() - started_ms);
  return answer;
}
