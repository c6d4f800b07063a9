/** A store with many tasks, and how long it takes to open it. */
import { open } from 'fencepost';
import { theStore } from './work.js';

const BATCH = 10_000;

export async function fillWithTasks(count) {
  const queue = theStore().queue('many');
  for (let done = 0; done < count; done += BATCH) {
    const length = Math.min(BATCH, count - done);
    const payload = (_, at) => ({ payload: { number: done + at } });
    await queue.enqueueMany(Array.from({ length }, payload));
  }
}

/** Opens and closes it; the milliseconds of each opening, and how many tasks there were. */
export async function openingTimes(name, rounds) {
  const times_ms = [];
  let ready = 0;
  for (let round = 0; round < rounds; round += 1) {
    const started_ms = performance.now();
    const store = await open(name);
    times_ms.push(performance.now() - started_ms);
    ready = (await store.queue('many').counts()).ready;
    await store.close();
  }
  return { times_ms, ready };
}
