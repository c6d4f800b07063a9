/** Everything that can wait in a store, and what each was told. */
import { theStore } from './work.js';

const told = {};

const tell =
  (who) =>
  ({ code }) => {
    told[who] = code;
  };

export async function waitForEverything() {
  const store = theStore();
  const queue = store.queue('waits', { resultRetention: 60_000 });
  const { id } = await queue.enqueue('later', { delay: 3_600_000 });
  await store.lease('taken').acquire('somebody', { ttl: 3_600_000 });
  store.queue('idle').work(() => undefined, { onError: tell('worker') });
  queue.result(id).catch(tell('result'));
  store.lease('taken').acquire('another', { ttl: 1_000, wait: Infinity }).catch(tell('acquire'));
  readEvents().catch(tell('events'));
  await new Promise((begin) => {
    const body = ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(tell('hold')(signal.reason)));
        begin();
      });
    store.lease('held').hold('me', { ttl: 3_600_000 }, body).catch(tell('hold'));
  });
}

async function readEvents() {
  for await (const _ of theStore().events());
}

/** Waits until so many were told, and answers what. */
export async function whatWasTold(count) {
  while (Object.keys(told).length < count) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return told;
}
