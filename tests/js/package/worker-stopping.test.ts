/** Promise 65: stopping workers and closing the store under them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, rejects, throws } from './support.js';
import { Gate, reasonOf, tabs } from './working-support.js';

test('stop waits for what runs and renews it, and leaves nothing behind', async () => {
  const { queue, clock } = await bench();
  await queue.enqueueMany([1, 2].map((payload) => ({ payload })));
  await clock.settle();
  const timers = clock.timers;
  const gate = new Gate();
  const started: unknown[] = [];
  const worker = queue.work(
    ({ payload }) => {
      started.push(payload);
      return gate.opened;
    },
    { lease: 3_000 },
  );
  await clock.settle();
  let stopped = 0;
  for (const stop of [worker.stop(), worker.stop(), worker[Symbol.asyncDispose]()]) {
    void stop.then(() => {
      stopped += 1;
    });
  }
  await clock.advance(30_000);
  assert.deepEqual(await queue.claim('thief').then((tasks) => tasks.map(({ id }) => id)), [2]);
  assert.equal(stopped, 0);
  gate.open();
  await clock.settle();
  assert.deepEqual([stopped, started, worker.running], [3, [1], 0]);
  assert.equal(await queue.get(1), null);
  await queue.cancel(2);
  await clock.settle();
  assert.equal(clock.timers, timers);
});

test('when the drain is over, what is not settled is given back, its attempt counted', async () => {
  const { queue, clock } = await bench();
  await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
  const reasons: unknown[] = [];
  const worker = queue.work(
    async (task, { signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      reasons.push(reasonOf(signal));
      if (task.payload === 1) await task.complete();
      for (let step = 0; step < 20; step += 1) await null;
      if (task.payload === 2) await task.release();
      throw signal.reason;
    },
    { concurrency: 3 },
  );
  await clock.settle();
  const stopping = worker.stop({ drain: 5_000 });
  await clock.advance(4_999);
  assert.deepEqual(reasons, []);
  await clock.advance(1);
  await stopping;
  assert.deepEqual(reasons, ['STOPPED', 'STOPPED', 'STOPPED']);
  assert.equal(await queue.get(1), null);
  const again = await queue.claim('next', { max: 3 });
  assert.deepEqual(
    again.map(({ id, attempt, lastError }) => [id, attempt, lastError]),
    [
      [2, 1, undefined],
      [3, 2, undefined],
    ],
  );
});

test('a later stop shortens an earlier one', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1);
  const worker = queue.work(() => new Gate().opened);
  await clock.settle();
  const patient = worker.stop();
  const impatient = worker.stop({ drain: 100 });
  await worker.stop({ drain: 0 });
  await Promise.all([patient, impatient]);
  assert.equal(worker.running, 0);
});

test('a claim that is under way when the worker is stopped is given back uncounted', async () => {
  const { one, journal, clock } = await tabs();
  await one.queue.enqueue(1);
  journal.plan('commit', 'hold-reply');
  const worker = one.queue.work(() => assert.fail('no handler runs'));
  await clock.settle();
  const stopping = worker.stop({ drain: 0 });
  journal.release();
  await stopping;
  await clock.settle();
  const [task] = await one.queue.claim('next');
  assert.equal(task?.attempt, 1);
});

test('closing a store stops its workers: at once, or within the drain', async () => {
  for (const drain of [undefined, 5_000]) {
    const { one, clock } = await tabs();
    const { id } = await one.queue.enqueue('runs');
    const reasons: unknown[] = [];
    const worker = one.queue.work(async (_, { signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        if (drain !== undefined) clock.setTimer(3_000, resolve);
      });
      reasons.push(reasonOf(signal));
      await one.store.kv.put('end', id);
    });
    await clock.settle();
    const closing = one.store.close(drain === undefined ? {} : { drain });
    throws(() => one.queue.work(() => undefined), 'STORE_CLOSED');
    await clock.advance(drain ?? 0);
    await closing;
    await one.store.close();
    assert.deepEqual([reasons, worker.running], [[drain === undefined ? 'STOPPED' : null], 0]);
    await rejects(one.queue.enqueue(2), 'STORE_CLOSED');
    await worker.stop();
  }
});

test('a store closed under an idle worker is closed at once', async () => {
  const { store, queue, clock } = await bench();
  const worker = queue.work(() => undefined);
  await worker.idle();
  const closing = store.close();
  await rejects(queue.enqueue(1), 'STORE_CLOSED');
  await closing;
  await worker.idle();
  assert.equal(clock.timers, 0);
});

test('an aborted signal is a stop that waits', async () => {
  const { queue, clock } = await bench();
  const stop = new AbortController();
  await queue.enqueue(1);
  const gate = new Gate();
  const worker = queue.work(() => gate.opened, { signal: stop.signal });
  await clock.settle();
  stop.abort();
  await queue.enqueue(2);
  gate.open();
  await worker.stop();
  assert.deepEqual(
    (await queue.list()).items.map(({ id }) => id),
    [2],
  );
  const never = queue.work(() => assert.fail('nothing runs'), { signal: stop.signal });
  await never.idle();
});

test('a worker without a name is a new owner each time', async () => {
  const { queue } = await bench();
  const owners: string[] = [];
  for (let start = 0; start < 2; start += 1) {
    await queue.enqueue(start);
    const worker = queue.work(({ owner }) => void owners.push(owner));
    await worker.idle();
    await worker.stop();
  }
  const [first = '', second = ''] = owners;
  assert.match(first, /^.+-[0-9a-f]{16}$/);
  assert.notEqual(first, second);
  assert.equal(first.slice(0, -16), second.slice(0, -16));
});

test('closing with a drain renews what runs until it ends', async () => {
  const { one, other, clock } = await tabs();
  await one.queue.enqueue(1);
  const gate = new Gate();
  let signal: AbortSignal | undefined;
  one.queue.work(
    (_, context) => {
      signal = context.signal;
      return gate.opened;
    },
    { lease: 900 },
  );
  await clock.settle();
  const closing = one.store.close({ drain: Infinity });
  for (let second = 0; second < 10; second += 1) {
    await clock.advance(1_000);
    assert.deepEqual(await other.queue.claim('thief'), []);
  }
  gate.open();
  await closing;
  assert.equal(reasonOf(signal), null);
  assert.deepEqual((await other.queue.list()).items, []);
});

test('close ends although every handler enqueues the next task', async () => {
  const { one, other, clock } = await tabs();
  let ran = 0;
  one.queue.work(async ({ payload }) => {
    ran += 1;
    await new Promise<void>((resolve) => {
      clock.setTimer(100, resolve);
    });
    await one.queue.enqueue(Number(payload) + 1);
  });
  await one.queue.enqueue(0);
  await clock.advance(1_000);
  const closing = one.store.close({ drain: Infinity });
  await clock.advance(100);
  await closing;
  const before = ran;
  await clock.advance(1_000);
  assert.equal(ran, before);
  const left = (await other.queue.list()).items.map(({ payload }) => payload);
  assert.deepEqual(left, [before]);
});

test('workers that are stopped in the tick they began do nothing and leave nothing', async () => {
  const { store, queue, clock } = await bench();
  await queue.enqueue(1);
  await clock.settle();
  const { timers, firings } = clock;
  const { version } = store;
  const workers = Array.from({ length: 20 }, () => queue.work(() => assert.fail('it runs')));
  await Promise.all(workers.map((worker) => worker.stop()));
  await clock.advance(60_000);
  assert.deepEqual([clock.timers, clock.firings], [timers, firings]);
  assert.equal(store.version, version);
  const [task] = await queue.claim('next');
  assert.equal(task?.attempt, 1);
});

test('a worker restarted under its old name neither keeps nor steals a claim', async () => {
  const { one, other, clock } = await tabs();
  const { id } = await one.queue.enqueue(1);
  const tokens: number[] = [];
  const gates = [new Gate(), new Gate()];
  const work = (queue: typeof one.queue, gate: Gate | undefined) =>
    queue.work(
      ({ token }) => {
        tokens.push(token);
        return gate?.opened;
      },
      { owner: 'the same', lease: 3_000 },
    );
  const first = work(one.queue, gates[0]);
  await clock.settle();
  const second = work(other.queue, gates[1]);
  await clock.advance(10_000);
  assert.equal(tokens.length, 1, 'the first one holds it, and renews it');
  await clock.freeze(3_001);
  const again = await other.queue.claim('the same');
  assert.deepEqual([again[0]?.attempt, (again[0]?.token ?? 0) > (tokens[0] ?? 0)], [2, true]);
  gates[0]?.open();
  await clock.settle();
  assert.equal((await one.queue.get(id))?.token, again[0]?.token);
  await Promise.all([first.stop(), second.stop()]);
});
