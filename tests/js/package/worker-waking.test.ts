/** Promises 66 and 67: when a worker wakes, and that it sleeps meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HandlerContext, type Journal, memory, open, type Task } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench } from './support.js';
import { Gate, HOUR, tabs } from './working-support.js';

/** The same journal without hints. */
function withoutHints(journal: Journal) {
  return {
    open: journal.open.bind(journal),
    commit: journal.commit.bind(journal),
    compact: journal.compact.bind(journal),
    close: journal.close.bind(journal),
  };
}

test('an idle worker does nothing but look for lost hints', async () => {
  const { one, clock, journal } = await tabs();
  await one.queue.enqueue('later', { delay: 3 * HOUR });
  const worker = one.queue.work(() => undefined, { concurrency: 5 });
  await clock.settle();
  const before = { version: one.store.version, firings: clock.firings };
  await clock.advance(HOUR);
  assert.equal(one.store.version, before.version);
  assert.equal(clock.firings - before.firings, HOUR / 30_000);
  assert.equal(journal.held, 0);
  await worker.stop();
  const stopped = clock.firings;
  await clock.advance(HOUR);
  assert.equal(clock.firings, stopped);
});

test('a delayed task runs on time after others, later and earlier, were added', async () => {
  const { one, other, clock } = await tabs();
  const ran: [unknown, number][] = [];
  const start = clock.now();
  const worker = one.queue.work(({ payload }) => {
    ran.push([payload, clock.now() - start]);
  });
  await one.queue.enqueue('hour', { delay: HOUR });
  await other.queue.enqueue('ten', { delay: 10_000 });
  await one.queue.enqueue('two', { delay: 2 * HOUR });
  await other.queue.enqueue('second', { delay: 1_000 });
  await one.queue.enqueue('far', { delay: 2 ** 31 + 1 });
  await one.queue.enqueue('past', { delay: -(2 ** 40) });
  await clock.advance(2 * HOUR);
  await clock.freeze(2 ** 31 - 2 * HOUR - 1);
  await clock.advance(2);
  assert.deepEqual(ran, [
    ['past', 0],
    ['second', 1_000],
    ['ten', 10_000],
    ['hour', HOUR],
    ['two', 2 * HOUR],
    ['far', 2 ** 31 + 1],
  ]);
  await worker.stop();
});

test('a worker is woken by the hint of another tab, or by the re-check', async () => {
  const [inner, clock] = [memory(), virtualClock()];
  const deaf = withoutHints(inner);
  const hears = await open('test', { clock, journal: inner });
  const misses = await open('test', { clock, journal: deaf });
  const ran: string[] = [];
  const workers = [hears, misses].map((store, at) =>
    store.queue(`q${at}`).work(() => void ran.push(`q${at}`)),
  );
  await clock.settle();
  await misses.queue('q0').enqueue(1);
  await hears.queue('q1').enqueue(1);
  await clock.settle();
  assert.deepEqual(ran, ['q0']);
  await clock.advance(29_999);
  assert.deepEqual(ran, ['q0']);
  await clock.advance(1);
  assert.deepEqual(ran, ['q0', 'q1']);
  await Promise.all(workers.map((worker) => worker.stop()));
});

test('a clock that is set back makes a task late by a ninth, not by an hour', async () => {
  const { one, clock } = await tabs();
  const ran: number[] = [];
  const worker = one.queue.work(() => void ran.push(clock.monotonic()));
  await one.queue.enqueue(1, { delay: 90_000 });
  clock.setWall(clock.now() - HOUR);
  await clock.advance(HOUR);
  assert.deepEqual(ran, [100_000]);
  await worker.stop();
});

test('a clock that is set forward is noticed by the next look', async () => {
  const { one, clock } = await tabs();
  const ran: number[] = [];
  const worker = one.queue.work(() => void ran.push(clock.monotonic()));
  await one.queue.enqueue(1, { delay: 2 * HOUR });
  await clock.settle();
  clock.setWall(clock.now() + 3 * HOUR);
  await clock.advance(HOUR);
  assert.equal(ran.length, 1);
  assert.ok((ran[0] ?? HOUR) <= 30_000);
  await worker.stop();
});

for (const [name, step] of [
  ['forward a day', 24 * HOUR],
  ['back an hour', -HOUR],
] as const) {
  test(`timers frozen for ten minutes and the clock set ${name} lose nothing`, async () => {
    const { one, other, clock } = await tabs();
    const holders = new Map<number, Task>();
    const done = new Map<number, unknown[]>();
    const handler = async (task: Task, { signal, store }: HandlerContext) => {
      const { id } = task;
      const before = holders.get(id);
      const row = await store.queue('mail').get(id);
      // Whoever had it before does not hold it any more, and could not settle it.
      assert.ok(before === undefined || before.token < task.token);
      assert.ok(before === undefined || before.deadline < (row?.claimedAt ?? 0));
      holders.set(id, task);
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        clock.setTimer(20_000, resolve);
      });
      const completed = await task.complete();
      if (completed.ok) done.set(id, [...(done.get(id) ?? []), task.payload]);
    };
    const workers = [one, other].map(({ queue }) =>
      queue.work(handler, { concurrency: 3, lease: 30_000 }),
    );
    const payloads = Array.from({ length: 12 }, (_, n) => n);
    await one.queue.enqueueMany(
      payloads.map((payload) => ({ payload, options: { delay: payload * 15_000 } })),
    );
    await clock.advance(45_000);
    await clock.freeze(600_000);
    clock.setWall(clock.now() + step);
    await clock.advance(HOUR);
    assert.deepEqual(
      [...done.values()].sort((some, more) => Number(some) - Number(more)),
      payloads.map((payload) => [payload]),
    );
    assert.deepEqual((await one.queue.list()).items, []);
    await Promise.all(workers.map((worker) => worker.stop()));
  });
}

test('idle resolves when nothing is ready and nothing runs, and not before', async () => {
  const { one, other, clock } = await tabs();
  const gate = new Gate();
  await other.queue.enqueue(1);
  await other.queue.enqueue(2, { delay: HOUR });
  const worker = one.queue.work(() => gate.opened);
  let idle = 0;
  void worker.idle().then(() => {
    idle += 1;
  });
  await clock.settle();
  assert.deepEqual([idle, worker.running], [0, 1]);
  gate.open();
  await clock.settle();
  assert.equal(idle, 1);
  await worker.idle();
  await worker.stop();
  await worker.idle();
});

test('idle reads the journal before it says that nothing is ready', async () => {
  const [inner, clock] = [memory(), virtualClock()];
  const deaf = withoutHints(inner);
  const store = await open('test', { clock, journal: deaf });
  const other = await open('test', { clock, journal: inner });
  let ran = 0;
  const worker = store.queue('mail').work(() => {
    ran += 1;
  });
  await worker.idle();
  await other.queue('mail').enqueue(1);
  await worker.idle();
  assert.equal(ran, 1);
  await worker.stop();
});

test('a paused queue leaves its worker idle until it is resumed', async () => {
  const { one, other, clock } = await tabs();
  await one.queue.pause();
  await one.queue.enqueue(1);
  let ran = 0;
  const worker = one.queue.work(() => {
    ran += 1;
  });
  await worker.idle();
  assert.equal(ran, 0);
  await other.queue.resume();
  await clock.settle();
  assert.equal(ran, 1);
  await worker.stop();
});

test('in online mode nothing is claimed without a network, and the event wakes', async () => {
  const { queue, clock } = await bench();
  const events = new EventTarget();
  const network = { onLine: false };
  const globals = globalThis as unknown as Record<string, unknown>;
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { value: network, configurable: true });
  globals.addEventListener = events.addEventListener.bind(events);
  globals.removeEventListener = events.removeEventListener.bind(events);
  try {
    const ran: unknown[] = [];
    const worker = queue.work(({ payload }) => void ran.push(payload), { online: true });
    await queue.enqueue(1);
    let isIdle = false;
    void worker.idle().then(() => {
      isIdle = true;
    });
    await clock.advance(60_000);
    assert.deepEqual([ran, isIdle], [[], false]);
    network.onLine = true;
    events.dispatchEvent(new Event('online'));
    await clock.settle();
    assert.deepEqual([ran, isIdle], [[1], true]);
    network.onLine = false;
    await queue.enqueue(2);
    await clock.settle();
    assert.deepEqual(ran, [1]);
    await worker.stop();
    network.onLine = true;
    events.dispatchEvent(new Event('online'));
    await clock.settle();
    assert.deepEqual(ran, [1]);
  } finally {
    Object.defineProperty(
      globalThis,
      'navigator',
      before ?? { value: undefined, configurable: true },
    );
    delete globals.addEventListener;
    delete globals.removeEventListener;
  }
});
