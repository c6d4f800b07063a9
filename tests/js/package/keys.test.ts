/** Promises 26 to 33, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, memory, open, put } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { faulty } from '../../../pkg/dist/testing/faulty.js';
import { bench, claimOne, held, payloads, rejects } from './support.js';

test('a key of a live task finds it, applies no writes, and is free in another queue', async () => {
  const { queue, store } = await bench();
  const first = await queue.enqueue('a', { key: 'k' });
  const writes = [put('x', 1), check('nothing', 7)];
  assert.deepEqual(await queue.enqueue('b', { key: 'k', writes }), { ...first, created: false });
  await claimOne(queue);
  assert.equal((await queue.enqueue('b', { key: 'k' })).state, 'inflight');
  assert.equal(await store.kv.get('x'), null);
  assert.equal((await store.queue('other').enqueue('a', { key: 'k' })).created, true);
});

test('a key outlives its completed task for its retention', async () => {
  const { queue, clock } = await bench();
  const { id, seq } = await queue.enqueue(1, { key: 'k', keyRetention: 100 });
  held(await (await claimOne(queue)).complete());
  const again = await queue.enqueue(1, { key: 'k' });
  assert.deepEqual(again, { id, seq, created: false, state: 'done' });
  clock.setWall(clock.now() + 100);
  assert.equal((await queue.enqueue(1, { key: 'k' })).created, true);
});

test('a cancelled task frees its key, a dead one holds it until it is purged', async () => {
  const { queue } = await bench();
  const { id } = await queue.enqueue(1, { key: 'k' });
  await queue.cancel(id);
  assert.equal((await queue.enqueue(1, { key: 'k' })).created, true);
  held(await (await claimOne(queue)).fail('x', { final: true }));
  assert.deepEqual((await queue.enqueue(1, { key: 'k' })).state, 'dead');
  assert.equal(await queue.purge(), 1);
  assert.equal((await queue.enqueue(1, { key: 'k' })).created, true);
});

test('an expired task is never claimed, and the store buries it by itself', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('waits', { expiresIn: 100 });
  await queue.enqueue('runs', { expiresIn: 100, priority: 1 });
  const task = await claimOne(queue);
  await clock.advance(100);
  const { items } = await queue.list({ state: 'dead' });
  assert.deepEqual(
    items.map(({ deadReason, lastError }) => [deadReason, lastError]),
    [
      ['expired', 'expired'],
      ['expired', 'expired'],
    ],
  );
  const late = await task.complete();
  assert.equal(!late.ok && late.reason, 'settled');
});

test('a timer that comes late still buries and purges, whatever was asked meanwhile', async () => {
  const { store, queue, clock } = await bench();
  await queue.enqueue('a', { expiresIn: 100, resultRetention: 1, deadRetention: 500 });
  const over = rejects(queue.result(1), 'TASK_DEAD');
  await clock.freeze(150);
  await store.kv.put('k', 1);
  await clock.advance(0);
  await over;
  await clock.freeze(600);
  await store.kv.put('k', 2);
  await clock.advance(0);
  assert.deepEqual((await queue.list()).items, []);
});

test('a sweep counts what it buried and purged, once, and in its own queue only', async () => {
  const { queue, clock, store } = await bench();
  await queue.enqueue(1, { expiresIn: 10, deadRetention: 0 });
  await queue.enqueue(2, { expiresIn: 10 });
  await store.queue('other').enqueue(3, { expiresIn: 10 });
  clock.setWall(clock.now() + 10);
  assert.deepEqual(await queue.sweep(), { expired: 2, purged: 1 });
  assert.deepEqual(await queue.sweep(), { expired: 0, purged: 0 });
  assert.deepEqual(await store.queue('other').sweep(), { expired: 1, purged: 0 });
});

test('a sweep of thousands goes on until it is through', async () => {
  const { queue, clock } = await bench();
  const items = Array.from({ length: 2_500 }, (_, at) => ({
    payload: at,
    options: { expiresIn: 10, deadRetention: 50 },
  }));
  await queue.enqueueMany(items);
  clock.setWall(clock.now() + 10);
  assert.deepEqual(await queue.sweep(), { expired: 2_500, purged: 0 });
  assert.equal(await queue.redrive({ limit: 1_500 }), 1_500);
  assert.equal(await queue.purge({ state: 'dead' }), 1_000);
  assert.deepEqual((await queue.counts()).ready, 1_500);
});

test('dead tasks leave after their retention while nobody does anything', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('short', { deadRetention: 1_000, maxAttempts: 1 });
  await queue.enqueue('for ever', { maxAttempts: 1 });
  for (const task of await queue.claim('w', { max: 2 })) held(await task.fail('x'));
  await clock.advance(1_000);
  assert.deepEqual(payloads((await queue.list()).items), ['for ever']);
  await clock.advance(2 ** 32);
  assert.deepEqual(payloads((await queue.list()).items), ['for ever']);
});

test('a key is given back after its retention while nobody does anything', async () => {
  const { queue, store, clock } = await bench();
  await queue.enqueue('p', { key: 'k', keyRetention: 5_000 });
  held(await (await claimOne(queue)).complete());
  const { version } = store;
  await clock.advance(4_999);
  assert.equal(store.version, version);
  await clock.advance(1);
  assert.equal(store.version, version + 1);
  await clock.advance(86_400_000);
  assert.equal(store.version, version + 1);
});

test('an idle store makes no commits', async () => {
  const { queue, clock, journal } = await bench();
  await queue.enqueue('later', { delay: 60_000 });
  const before = await tipOf(journal);
  await clock.advance(10 * 60_000);
  assert.equal(await tipOf(journal), before);
});

test('redriven tasks keep their place, are fresh again, and others stay dead', async () => {
  const { queue } = await bench();
  for (const payload of ['a', 'b', 'c']) await queue.enqueue(payload, { maxAttempts: 1 });
  for (const task of await queue.claim('w', { max: 3 })) held(await task.fail(payloads([task])[0]));
  assert.equal(await queue.redrive({ ids: [3, 1, 1, 99] }), 2);
  const [first, second] = await queue.claim('w', { max: 5 });
  assert.deepEqual([first?.payload, first?.attempt, first?.lastError], ['a', 1, 'a']);
  assert.equal(second?.payload, 'c');
  assert.equal((await queue.counts()).dead, 1);
  assert.equal(await queue.redrive({ limit: 0 }), 0);
});

test('pages stay right while tasks come and go', async () => {
  const { queue } = await bench();
  for (let at = 0; at < 5; at += 1) await queue.enqueue(at);
  const first = await queue.list({ limit: 2 });
  assert.deepEqual(payloads(first.items), [0, 1]);
  await queue.cancel(2);
  await queue.cancel(3);
  await queue.enqueue(5);
  const rest = await queue.list(first.cursor === undefined ? {} : { cursor: first.cursor });
  assert.deepEqual(payloads(rest.items), [3, 4, 5]);
  assert.ok(!('cursor' in rest));
  assert.deepEqual(await queue.list({ limit: 0 }), { items: [] });
  await rejects(queue.list({ cursor: 'x' }), 'INVALID_ARGUMENT');
});

test('results stay for their retention and are gone after it', async () => {
  const { queue, clock } = await bench();
  const { id } = await queue.enqueue(1, { resultRetention: 100 });
  held(await (await claimOne(queue)).complete({ sum: 3 }));
  assert.deepEqual((await queue.get(id))?.result, { sum: 3 });
  assert.deepEqual(await queue.result(id), { sum: 3 });
  clock.setWall(clock.now() + 100);
  assert.equal(await queue.get(id), null);
});

test('a result is waited for, here and in another store', async () => {
  const { queue, journal, clock } = await bench();
  const other = await open('test', { journal, clock });
  const { id } = await queue.enqueue(1, { resultRetention: 100 });
  const [here, there] = [queue.result(id), other.queue('mail').result(id)];
  held(await (await claimOne(queue)).complete('done'));
  assert.deepEqual(await Promise.all([here, there]), ['done', 'done']);
});

test('waiting for a result ends when there will be none', async () => {
  const { queue, store } = await bench();
  const ids: number[] = [];
  for (let at = 0; at < 6; at += 1) {
    ids.push((await queue.enqueue(at, { resultRetention: 100, deadRetention: 0 })).id);
  }
  const [dead = 0, cancelled = 0, aborted = 0, closed = 0, bare = 0] = ids;
  const stop = new AbortController();
  const [died, ended, unended] = [
    queue.result(dead),
    queue.result(cancelled),
    queue.result(closed),
  ];
  const abortedWait = queue.result(aborted, { signal: stop.signal });
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(abortedWait, reason);
  await assert.rejects(queue.result(aborted, { signal: stop.signal }), reason);
  const task = await claimOne(queue);
  held(await task.fail('no', { final: true }));
  await rejects(died, 'TASK_DEAD');
  await queue.cancel(cancelled, 'no need');
  await rejects(ended, 'TASK_CANCELLED');
  await rejects(queue.result(99), 'TASK_GONE');
  await queue.cancel(bare);
  const { id } = await queue.enqueue('without');
  await rejects(queue.result(id), 'INVALID_ARGUMENT');
  await store.close();
  await rejects(unended, 'STORE_CLOSED');
});

test('a paused queue serves nobody until it is resumed, also after a restart', async () => {
  const { queue, store, journal, clock } = await bench();
  await queue.enqueue('held');
  const task = await claimOne(queue);
  await queue.pause();
  await queue.enqueue('new');
  assert.deepEqual(await queue.claim('w'), []);
  assert.deepEqual(await queue.explain(2), { state: 'ready', because: 'paused' });
  assert.equal(await queue.nextDue(), null);
  held(await task.complete());
  await store.close();
  const again = (await open('test', { journal, clock })).queue('mail');
  assert.deepEqual(await again.claim('w'), []);
  await again.resume();
  assert.deepEqual(payloads(await again.claim('w')), ['new']);
});

test('explain says why a task does not run, and nextDue when a claim may be served', async () => {
  const { queue, clock } = await bench();
  const start = clock.now();
  await queue.enqueue('later', { delay: 50 });
  assert.equal(await queue.nextDue(), start + 50);
  assert.deepEqual(await queue.explain(1), {
    state: 'scheduled',
    because: 'due-later',
    until: start + 50,
  });
  clock.setWall(start + 50);
  assert.equal((await queue.explain(1))?.because, 'no-owner-claims');
  assert.equal(await queue.nextDue(), start + 50);
  const task = await claimOne(queue, 'w', { lease: 10 });
  assert.equal((await queue.explain(1))?.because, 'claimed');
  assert.equal(await queue.nextDue(), task.deadline + 1);
  assert.equal(await queue.explain(99), null);
});

async function tipOf(journal: ReturnType<typeof memory>): Promise<number> {
  let slot = 0;
  await journal.commit(Number.MAX_SAFE_INTEGER, ({ tip }) => {
    slot = tip?.slot ?? 0;
    return null;
  });
  return slot;
}

test('a result that another tab makes just as the waiting begins is not missed', async () => {
  const [inner, clock] = [memory(), virtualClock()];
  const journal = faulty(inner);
  const store = await open('test', { clock, journal });
  const other = await open('test', { clock, journal: inner });
  const queue = store.queue('mail');
  const { id } = await queue.enqueue(1, { resultRetention: 1_000 });
  const task = await claimOne(other.queue('mail'));
  journal.plan('commit', 'hold-reply');
  const waiting = queue.result(id);
  await clock.settle();
  held(await task.complete('done'));
  journal.release();
  await clock.settle();
  const first = await Promise.race([waiting, clock.settle().then(() => 'not yet')]);
  assert.equal(first, 'done');
  assert.equal(clock.firings, 0);
});
