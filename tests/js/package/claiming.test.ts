/** Promises 1 to 9, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open } from 'fencepost';
import { bench, claimOne, payloads, rejects } from './support.js';

test('higher priorities are claimed first, equal ones in order', async () => {
  const { queue } = await bench();
  await queue.enqueue('first');
  await queue.enqueue('high', { priority: 10 });
  await queue.enqueue('second');
  assert.deepEqual(payloads(await queue.claim('w', { max: 3 })), ['high', 'first', 'second']);
});

test('a delayed task is claimed when it is due, and delay wins over runAt', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('later', { delay: 100, runAt: 0 });
  clock.setWall(clock.now() + 99);
  assert.deepEqual(await queue.claim('w'), []);
  clock.setWall(clock.now() + 1);
  assert.deepEqual(payloads(await queue.claim('w')), ['later']);
});

test('a runAt that is no instant is refused with what it may be', async () => {
  const { queue } = await bench();
  const expected = 'runAt: expected a Date or whole milliseconds, from 1970 on, got ';
  for (const [runAt, got] of [
    ['2026-01-01', '"2026-01-01"'],
    [1.5, '1.5'],
    [null, 'null'],
    [new Date(-1), 'a Date at -1'],
    [new Date(''), 'a Date at NaN'],
  ] as const) {
    const error = await rejects(queue.enqueue(1, { runAt: runAt as never }), 'INVALID_ARGUMENT');
    assert.equal(error.message, expected + got);
  }
});

test('a runAt in the past is due at once and decides the order', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('now');
  await queue.enqueue('past', { runAt: clock.now() - 1_000 });
  await queue.enqueue('date', { runAt: new Date(clock.now() - 2_000) });
  assert.deepEqual(payloads(await queue.claim('w', { max: 3 })), ['date', 'past', 'now']);
});

test('of twelve that fall due together the one with the highest priority comes first', async () => {
  const { queue, clock } = await bench();
  const items = Array.from({ length: 12 }, (_, at) => ({
    payload: at,
    options: { delay: 10 + at, priority: at === 11 ? 1 : 0 },
  }));
  await queue.enqueueMany(items);
  clock.setWall(clock.now() + 60);
  const [first] = await queue.claim('w');
  assert.equal(first?.payload, 11);
});

test('ten thousand of one millisecond come out in the order they went in', async () => {
  const { queue } = await bench();
  await queue.enqueueMany(Array.from({ length: 10_000 }, (_, at) => ({ payload: at })));
  let next = 0;
  for (let page = 0; page < 10; page += 1) {
    for (const task of await queue.claim('w', { max: 1_000 })) {
      assert.equal(task.payload, next);
      next += 1;
    }
  }
  assert.equal(next, 10_000);
});

test('a batch is one commit, with the deadline of each task or of the claim', async () => {
  const { queue, clock, store } = await bench();
  await queue.enqueue(1, { lease: 100 });
  await queue.enqueue(2, { lease: 200 });
  const before = store.version;
  const stamped = await queue.claim('w', { max: 2 });
  assert.equal(store.version, before + 1);
  assert.deepEqual(
    stamped.map(({ deadline }) => deadline - clock.now()),
    [100, 200],
  );
  for (const task of stamped) await task.release();
  const named = await queue.claim('w', { max: 2, lease: 7 });
  assert.deepEqual(
    named.map(({ deadline }) => deadline - clock.now()),
    [7, 7],
  );
});

test('a claim of none or fewer touches nothing, but its owner must be one', async () => {
  const { queue, store } = await bench();
  await queue.enqueue(1);
  const before = store.version;
  assert.deepEqual(await queue.claim('w', { max: 0 }), []);
  assert.deepEqual(await queue.claim('w', { max: -3 }), []);
  assert.equal(store.version, before);
  await rejects(queue.claim('  ', { max: 0 }), 'INVALID_NAME');
});

test('eight owners drain forty tasks and each is handed out once', async () => {
  const journal = memory();
  const { queue } = await bench({ journal });
  await queue.enqueueMany(Array.from({ length: 40 }, (_, at) => ({ payload: at })));
  const stores = await Promise.all(Array.from({ length: 8 }, () => open('test', { journal })));
  const seen: unknown[] = [];
  await Promise.all(
    stores.map(async (store, at) => {
      for (;;) {
        const [task] = await store.queue('mail').claim(`w${at}`);
        if (task === undefined) return;
        seen.push(task.payload);
        await task.complete();
      }
    }),
  );
  assert.deepEqual(
    seen.sort((one, other) => Number(one) - Number(other)),
    Array.from({ length: 40 }, (_, at) => at),
  );
});

test('queues do not see each other', async () => {
  const { queue, store } = await bench();
  const { id } = await queue.enqueue('a');
  const other = store.queue('other');
  assert.equal(await other.get(id), null);
  assert.equal(await other.cancel(id), false);
  assert.deepEqual(await other.claim('w'), []);
  const task = await claimOne(queue);
  assert.equal(await other.completeMany([task]), 0);
  assert.equal(await queue.completeMany([task]), 1);
});
