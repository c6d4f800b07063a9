/** What a commit costs: calls to the engine and the clock, not milliseconds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted } from './counted.js';

const HOUR = 3_600_000;

test('idle workers with something due later make no commit dearer', async () => {
  const alone = await counted();
  const crowded = await counted();
  for (let at = 0; at < 500; at += 1) {
    const queue = crowded.store.queue(`idle ${at}`);
    await queue.enqueue(1, { delay: HOUR + at });
    queue.work(() => undefined);
  }
  const costs: number[] = [];
  for (const { store, count } of [alone, crowded]) {
    await store.queue('mail').enqueue(1);
    costs.push(await count(() => store.queue('mail').enqueue(1)));
  }
  const [few = 0, many = 0] = costs;
  // Which queue was touched is asked only where somebody wants to know.
  assert.ok(many <= few + 20, `${few} calls alone, ${many} beside 500 idle workers`);
});

test('a commit wakes the workers of its queue, and no others', async () => {
  const { store, clock, calls } = await counted();
  const ran: string[] = [];
  for (const name of ['a', 'b', 'c']) store.queue(name).work(() => void ran.push(name));
  await clock.settle();
  const before = calls.get('queueClaim') ?? 0;
  await store.queue('b').enqueue(1);
  await clock.settle();
  assert.deepEqual(ran, ['b']);
  assert.equal((calls.get('queueClaim') ?? 0) - before, 1);
  await store.queue('b').pause();
  await store.queue('b').enqueue(2);
  await clock.settle();
  assert.deepEqual(ran, ['b']);
  await store.queue('b').resume();
  await clock.settle();
  assert.deepEqual(ran, ['b', 'b']);
});

test('a commit of more tasks than are told one by one still wakes everybody', async () => {
  const { store, clock } = await counted();
  const ran: number[] = [];
  for (let at = 0; at < 1_100; at += 1) store.queue(`q ${at}`).work(() => void ran.push(at));
  await clock.settle();
  const done = await store.transact((tx) => {
    for (let at = 0; at < 1_100; at += 1) tx.queue(`q ${at}`).enqueue(1);
  });
  assert.ok(done.ok);
  await clock.settle();
  assert.equal(ran.length, 1_100);
});

test('waiters for results and watched leases cost commits about others nothing', async () => {
  const { store, clock, count } = await counted();
  const other = store.queue('other');
  const alone = await count(() => other.enqueue(1));
  const queue = store.queue('mail');
  const results: Promise<unknown>[] = [];
  for (let at = 0; at < 300; at += 1) {
    const { id } = await queue.enqueue(at, { resultRetention: HOUR });
    results.push(queue.result(id));
    const granted = await store.lease(`l ${at}`).acquire('me', { ttl: 1 });
    assert.ok(granted.ok && !granted.lease.signal.aborted);
  }
  await clock.advance(1_000);
  const crowded = await count(() => other.enqueue(1));
  assert.ok(crowded <= alone + 20, `${alone} calls alone, ${crowded} beside waiters and leases`);
  const worker = queue.work(({ payload }) => payload, { concurrency: 50 });
  assert.deepEqual((await Promise.all(results)).length, 300);
  await worker.stop();
});

test('a watched lease that is taken over still aborts its signal', async () => {
  const { store, clock } = await counted();
  const first = await store.lease('l').acquire('a', { ttl: 1_000 });
  assert.ok(first.ok && !first.lease.signal.aborted);
  const second = store.lease('l').acquire('b', { ttl: 1_000, wait: 5_000 });
  await clock.advance(1_000);
  assert.ok((await second).ok);
  assert.ok(first.lease.signal.aborted);
});

test('a look at the alarm costs the same however many bells are set', async () => {
  const { store, calls, count } = await counted();
  const clockCalls = () => (calls.get('now') ?? 0) + (calls.get('monotonic') ?? 0);
  const costs: number[] = [];
  for (const workers of [1, 400]) {
    for (let at = 0; at < workers; at += 1) {
      const queue = store.queue(`q ${at}`);
      await queue.enqueue(1, { delay: HOUR });
      queue.work(() => undefined);
    }
    const before = clockCalls();
    await count(() => store.kv.put('k', workers));
    costs.push(clockCalls() - before);
  }
  assert.ok((costs[1] ?? 0) <= (costs[0] ?? 0) + 2, `${costs.join(', then ')} looks at the clock`);
});
