/** Which async context the user's functions run in: the one in which they were handed over. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { memory, open, RetryAfter } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench, claimOne, held } from './support.js';
import { tabs } from './working-support.js';

const tenant = new AsyncLocalStorage<string>();
const seen = () => tenant.getStore() ?? 'none';

test('handlers run in the context of `work`, whoever enqueued or set the timer', async () => {
  const { queue, clock } = await bench();
  const contexts: string[] = [];
  const worker = tenant.run('worker', () =>
    queue.work(
      async ({ payload, attempt }) => {
        contexts.push(`${payload}: ${seen()}`);
        await clock.settle();
        contexts.push(`${payload}, later: ${seen()}`);
        if (payload === 'again' && attempt === 1) throw new RetryAfter(500);
      },
      { concurrency: 2 },
    ),
  );
  await Promise.all([
    tenant.run('a', () => queue.enqueue('first')),
    tenant.run('b', () => queue.enqueue('delayed', { delay: 1_000 })),
    tenant.run('c', () => queue.enqueue('again')),
  ]);
  await tenant.run('d', () => clock.advance(5_000));
  assert.equal(contexts.length, 8);
  assert.deepEqual(
    contexts.filter((line) => !line.endsWith(': worker')),
    [],
  );
  await worker.stop();
});

test('a worker that is registered outside of all contexts stays outside', async () => {
  const { queue, clock } = await bench();
  const contexts: string[] = [];
  queue.work(() => void contexts.push(seen()));
  await clock.advance(1);
  await Promise.all(['a', 'b', 'c'].map((name) => tenant.run(name, () => queue.enqueue(name))));
  await clock.advance(1);
  assert.deepEqual(contexts, ['none', 'none', 'none']);
});

test('onError and the listeners of a signal are called in the context of `work`', async () => {
  const { one, clock, outage } = await tabs();
  const contexts: string[] = [];
  await one.queue.enqueue(1);
  const worker = tenant.run('worker', () =>
    one.queue.work(
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(void contexts.push(`abort: ${seen()}`)));
        }),
      { lease: 1_000, onError: () => contexts.push(`onError: ${seen()}`) },
    ),
  );
  await clock.advance(1);
  outage.isOn = true;
  await tenant.run('a', () => clock.advance(2_000));
  outage.isOn = false;
  await tenant.run('b', () => worker.stop({ drain: 0 }));
  assert.ok(
    contexts.some((line) => line.startsWith('abort')),
    'the claim was lost',
  );
  assert.ok(
    contexts.some((line) => line.startsWith('onError')),
    'a renewal failed',
  );
  assert.deepEqual(
    contexts.filter((line) => !line.endsWith(': worker')),
    [],
  );
});

test('bodies of transactions in one entry run each in the context of its call', async () => {
  const { store } = await bench();
  const bodies = ['a', 'b', 'c'].map((name) =>
    tenant.run(name, () => store.transact(() => [name, seen()])),
  );
  for (const body of await Promise.all(bodies)) {
    const [own, found] = held(body);
    assert.equal(found, own);
  }
});

test('waiters and readers go on in their own context', async () => {
  const { store, queue, clock } = await bench();
  const stop = new AbortController();
  const reading = tenant.run('reader', async () => {
    for await (const { type } of store.events({ signal: stop.signal })) {
      if (type === 'completed') return seen();
    }
    return 'nothing came';
  });
  const { id } = await queue.enqueue(1, { resultRetention: 1_000 });
  const waiting = tenant.run('waiter', () => queue.result(id).then(() => seen()));
  const first = await store.lease('l').acquire('x', { ttl: 60_000 });
  const inLine = tenant.run('line', () =>
    store.lease('l').hold('y', { ttl: 1_000 }, async (lease) => {
      const lost = new Promise<string>((resolve) => {
        lease.signal.addEventListener('abort', () => resolve(seen()));
      });
      await tenant.run('elsewhere', () => lease.release());
      return [seen(), await lost];
    }),
  );
  await tenant.run('worker', async () => held(await (await claimOne(queue)).complete()));
  await tenant.run('releaser', async () => first.ok && first.lease.release());
  await clock.advance(1);
  assert.deepEqual(
    [await reading, await waiting, await inLine],
    ['reader', 'waiter', ['line', 'line']],
  );
});

test('where the platform has an AsyncContext of its own, that is captured', async () => {
  let current = 'none';
  class Snapshot {
    readonly #captured = current;
    run<T>(call: () => T): T {
      const before = current;
      current = this.#captured;
      try {
        return call();
      } finally {
        current = before;
      }
    }
  }
  Object.assign(globalThis, { AsyncContext: { Snapshot } });
  try {
    const clock = virtualClock();
    const store = await open('test', { clock, journal: memory() });
    const contexts: string[] = [];
    current = 'worker';
    store.queue('mail').work(() => void contexts.push(current));
    current = 'enqueuer';
    await store.queue('mail').enqueue(1);
    await clock.advance(1);
    assert.deepEqual(contexts, ['worker']);
    await store.close();
  } finally {
    Reflect.deleteProperty(globalThis, 'AsyncContext');
  }
});
