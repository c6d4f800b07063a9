/** What people do to waiting tasks by hand, and what they see of claims that ran out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Codec, Snooze } from 'fencepost';
import { bench, claimOne, held, payloads, refused, rejects } from './support.js';

test('a claim that ran out is told as lapsed until somebody claims again', async () => {
  const { queue, store, clock } = await bench();
  const { id } = await queue.enqueue('p', { lease: 1_000, priority: 3 });
  await claimOne(queue);
  await clock.advance(1_000);
  assert.ok(!('lapsed' in ((await queue.get(id)) ?? {})));
  assert.equal((await queue.counts()).lapsed, 0);
  await clock.advance(1);
  const record = await queue.get(id);
  assert.deepEqual([record?.state, record?.lapsed], ['inflight', true]);
  assert.equal((await queue.list()).items[0]?.lapsed, true);
  const counts = { scheduled: 0, ready: 0, inflight: 1, done: 0, dead: 0, lapsed: 1 };
  assert.deepEqual(await queue.counts(), counts);
  const [summary] = await store.queues();
  assert.deepEqual(summary?.counts, counts);
  assert.ok(!('oldestReadyAt' in (summary ?? {})), 'nothing is ready');
  const later = clock.now();
  await queue.enqueue('q', { priority: 3 });
  assert.equal((await store.queues())[0]?.oldestReadyAt, later);
  await claimOne(queue);
  assert.equal((await queue.counts()).lapsed, 0);
  assert.deepEqual((await store.verify()).problems, []);
});

test('promote makes due now what was delayed or in backoff, and counts it', async () => {
  const { queue, clock } = await bench();
  const delayed = await queue.enqueue('delayed', { delay: 60_000 });
  const ready = await queue.enqueue('ready');
  held(await (await claimOne(queue)).fail('down', { delay: 60_000 }));
  assert.equal(await queue.promote([delayed.id, ready.id, ready.id, 99]), 2);
  assert.equal(await queue.promote([delayed.id]), 0);
  assert.deepEqual((await queue.get(delayed.id))?.runAt, clock.now());
  assert.deepEqual(payloads(await queue.claim('w', { max: 9 })), ['delayed', 'ready']);
  await rejects(queue.promote(undefined as never), 'INVALID_ARGUMENT');
  await rejects(queue.promote(Array.from({ length: 10_001 }, () => 1)), 'LIMIT_EXCEEDED');
});

test('reschedule moves a waiting task, and no other', async () => {
  const { queue, clock } = await bench();
  const { id } = await queue.enqueue('p');
  assert.equal(await queue.reschedule(id, clock.now() + 500), true);
  assert.deepEqual(await queue.claim('w'), []);
  assert.equal(await queue.reschedule(id, new Date(clock.now())), true);
  await claimOne(queue);
  assert.equal(await queue.reschedule(id, 0), false);
  assert.equal(await queue.reschedule(99, 0), false);
  await rejects(queue.reschedule(id, -1), 'INVALID_ARGUMENT');
});

test('who may not manage puts nothing off, and who may not inspect finds no key', async () => {
  const { store, queue } = await bench();
  const { id } = await queue.enqueue('p', { delay: 9, key: 'k' });
  const may = [{ queue: 'mail', rights: ['enqueue' as const] }];
  const mail = store.as({ actor: 'a', may }).queue('mail');
  await rejects(mail.promote([id]), 'PERMISSION_DENIED');
  await rejects(mail.reschedule(id, 0), 'PERMISSION_DENIED');
  await rejects(mail.byKey('k'), 'PERMISSION_DENIED');
  assert.equal((await queue.counts()).scheduled, 1);
});

test('a task is found by the key it holds', async () => {
  const { queue, store } = await bench();
  const { id } = await queue.enqueue('p', { key: 'k' });
  assert.equal((await queue.byKey('k'))?.id, id);
  assert.equal(await queue.byKey('none'), null);
  assert.equal(await store.queue('other').byKey('k'), null);
  held(await (await claimOne(queue)).complete());
  assert.equal(await queue.byKey('k'), null);
});

test('a list may begin with the newest, and its cursor holds while tasks come', async () => {
  const { queue } = await bench();
  for (let number = 1; number <= 5; number += 1) await queue.enqueue(number);
  const first = await queue.list({ order: 'desc', limit: 2 });
  assert.deepEqual(payloads(first.items), [5, 4]);
  await queue.enqueue(6);
  assert.ok(first.cursor !== undefined);
  const rest = await queue.list({ order: 'desc', cursor: first.cursor });
  assert.deepEqual(payloads(rest.items), [3, 2, 1]);
  assert.deepEqual(payloads((await queue.list({ order: 'asc', limit: 1 })).items), [1]);
  await rejects(queue.list({ order: 'up' as never }), 'INVALID_ARGUMENT');
});

test('a task that is given back with a delay waits for it, and keeps its attempts', async () => {
  const { queue, store, clock } = await bench();
  await queue.enqueue('p', { maxAttempts: 1 });
  const task = await claimOne(queue);
  held(await task.release({ delay: 1_000 }));
  refused(await task.complete(), 'settled');
  assert.deepEqual(await queue.claim('w'), []);
  await clock.advance(1_000);
  const again = await claimOne(queue);
  assert.equal(again.attempt, 1);
  held(await store.transact((tx) => tx.release(again, { delay: 500 })));
  assert.equal((await queue.counts()).scheduled, 1);
});

test('a handler that snoozes uses up no attempt', async () => {
  const { queue, clock } = await bench();
  const { id } = await queue.enqueue('p', { maxAttempts: 1 });
  const attempts: number[] = [];
  const worker = queue.work((task) => {
    attempts.push(task.attempt);
    if (attempts.length < 4) throw new Snooze(60_000);
  });
  for (let round = 0; round < 4; round += 1) {
    await clock.settle();
    await clock.advance(60_000);
  }
  await worker.stop();
  assert.deepEqual(attempts, [1, 1, 1, 1]);
  assert.equal(await queue.get(id), null);
  assert.throws(() => new Snooze(1.5), { code: 'INVALID_ARGUMENT' });
});

for (const resultRetention of [0, 60_000]) {
  test(`a key goes over in a transaction as to a follow-up (${resultRetention})`, async () => {
    const { queue, store } = await bench();
    await queue.enqueue('one', { key: 'k', resultRetention });
    const task = await claimOne(queue);
    const made = held(
      await store.transact((tx) => {
        tx.complete(task);
        return tx.queue('mail').enqueue('two', { key: 'k' });
      }),
    );
    assert.equal(made.created, true);
    assert.equal((await queue.byKey('k'))?.payload, 'two');
    assert.equal((await queue.enqueue('three', { key: 'k' })).created, false);
    assert.deepEqual(payloads(await queue.claim('w', { max: 9 })), ['two']);
    assert.deepEqual((await store.verify()).problems, []);
  });
}

test('a key that was completed before the transaction stays taken in it', async () => {
  const { queue, store } = await bench();
  await queue.enqueue('one', { key: 'k' });
  held(await (await claimOne(queue)).complete());
  const made = held(
    await store.transact((tx) => tx.queue('mail').enqueue('two', { key: 'k' }).created),
  );
  assert.equal(made, false);
});

test('an error in one of many names the item and the argument', async () => {
  const { queue } = await bench({ maxPayloadBytes: 10 });
  const items = [{ payload: 1 }, { payload: 'x'.repeat(20) }];
  const large = await rejects(queue.enqueueMany(items), 'PAYLOAD_TOO_LARGE');
  assert.match(large.message, /^items\[1\]\.payload: /);
  assert.equal(large.details.argument, 'items[1].payload');
  const key = { payload: 1, options: { key: ' ' } };
  const blank = await rejects(queue.enqueueMany([{ payload: 1 }, key]), 'INVALID_NAME');
  assert.match(blank.message, /^items\[1\]\.options\.key: /);
  await queue.enqueue(1);
  const task = await claimOne(queue);
  const followUp = { queue: 'next', payload: 1 };
  const bad = async (second: object, place: RegExp, code: string) => {
    const followUps = [followUp, { ...followUp, ...second }];
    assert.match((await rejects(task.complete(1, { followUps }), code)).message, place);
  };
  await bad({ options: { delay: 1.5 } }, /^followUps\[1\]\.options\.delay: /, 'INVALID_ARGUMENT');
  await bad({ payload: 1n }, /^followUps\[1\]\.payload: /, 'INVALID_ARGUMENT');
  await bad({ payload: 'x'.repeat(20) }, /^followUps\[1\]\.payload: /, 'PAYLOAD_TOO_LARGE');
  held(await task.complete());
});

test('a schedule makes tasks with the codec of its job', async () => {
  const { store, clock } = await bench();
  const codec: Codec = {
    name: 'backwards',
    encode: (value) => new TextEncoder().encode([...String(value)].reverse().join('')),
    decode: (bytes) => [...new TextDecoder().decode(bytes)].reverse().join(''),
  };
  const job = { queue: 'mail', payload: 'abc', codec };
  const record = await store.schedule('s', { every: 1_000 }, job);
  assert.equal(record.job.codec, 'backwards');
  await clock.advance(1_000);
  assert.equal((await claimOne(store.queue('mail', { codec }))).payload, 'abc');
  assert.deepEqual((await store.verify()).problems, []);
});

test('redrive and purge of many end with what there was, whoever kills it again', async () => {
  const { queue } = await bench();
  const many = Array.from({ length: 2_500 }, (_, number) => ({ payload: number }));
  await queue.enqueueMany(many);
  const bury = async () => {
    for (;;) {
      const tasks = await queue.claim('w', { max: 1_000 });
      if (tasks.length === 0) return;
      await Promise.all(tasks.map((task) => task.fail('no', { final: true })));
    }
  };
  await bury();
  assert.equal(await queue.redrive({ limit: 1_200 }), 1_200);
  await bury();
  const redriven = queue.redrive();
  const [count] = await Promise.all([redriven, bury()]);
  assert.equal(count, 2_500);
  await bury();
  const ids = Array.from({ length: 1_500 }, (_, at) => at + 1);
  assert.equal(await queue.purge({ ids }), 1_500);
  assert.equal(await queue.purge(), 1_000);
});

test('the last error of a task names the error and what caused it', async () => {
  const { queue } = await bench();
  const { id } = await queue.enqueue(1, { maxAttempts: 9, backoff: { base: 0 } });
  const fail = async (error: unknown) => {
    held(await (await claimOne(queue)).fail(error));
    return (await queue.get(id))?.lastError;
  };
  const refusedBy = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
  const cause = new AggregateError([new Error('connect ::1'), refusedBy], '');
  assert.equal(
    await fail(new TypeError('fetch failed', { cause })),
    'TypeError: fetch failed\ncaused by AggregateError: \ncaused by connect ::1',
  );
  assert.equal(await fail(new Error('plain')), 'plain');
  assert.equal(await fail(new Snooze(1, 'own')), 'own');
  const circle = new RangeError('round');
  circle.cause = circle;
  assert.equal(await fail(circle), 'RangeError: round');
  assert.equal(await fail(new Error('outer', { cause: 'text' })), 'outer\ncaused by text');
});
