/** Nobody starves: timers beside a store that never waits, a process beside a worker. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open } from 'fencepost';
import { Breath } from '../../../pkg/dist/breath.js';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench } from './support.js';

/** Counts the turns of the event loop until it is stopped. */
function countTurns(): { turns: number; stop(): void } {
  const counted = { turns: 0, stop: () => clearImmediate(next) };
  const count = () => {
    counted.turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return counted;
}

test('commits on a journal that answers at once leave turns to others, by the clock', async () => {
  // A millisecond passes with every look at this clock.
  let time = 0;
  const clock = { ...virtualClock(), now: () => 1_000, monotonic: () => (time += 1) };
  clock.setTimer = () => ({ cancel: () => undefined });
  const store = await open('test', { journal: memory(), clock });
  const counted = countTurns();
  for (let done = 0; done < 100; done += 1) await store.kv.put('k', done);
  counted.stop();
  assert.ok(counted.turns >= 20, `${counted.turns} turns beside 100 commits`);
  await store.close();
});

test('commits leave turns to others also while the clock stands still', async () => {
  const { store, queue } = await bench();
  await queue.enqueueMany(Array.from({ length: 2_000 }, (_, at) => ({ payload: at })));
  const counted = countTurns();
  const worker = queue.work(() => undefined);
  await worker.idle();
  counted.stop();
  // Claimed and completed one by one: some 4 000 commits.
  assert.ok(counted.turns >= 10, `${counted.turns} turns`);
  await store.close();
});

test('a turn that comes by itself is not waited for', async () => {
  const asked: (() => void)[] = [];
  const breath = new Breath(() => new Promise((resolve) => asked.push(resolve)));
  for (let now = 0; now < 4; now += 1) assert.equal(breath.due(now), null);
  asked[0]?.();
  await null;
  await null;
  assert.equal(breath.due(4), null);
  assert.equal(breath.due(7), null);
  const late = breath.due(8);
  assert.ok(late instanceof Promise);
  asked[1]?.();
  await late;
  assert.equal(breath.due(9), null);
  assert.equal(asked.length, 3);
});

test('a task that is given back is not claimed at once by the worker that had it', async () => {
  const { store, queue, clock } = await bench();
  await queue.enqueue('released');
  await queue.enqueue('in a transaction', { priority: -1 });
  let [runs, byTransaction] = [0, 0];
  const worker = queue.work(async (task) => {
    if (task.payload === 'released') {
      runs += 1;
      await (runs < 9 ? task.release() : task.complete());
    } else {
      byTransaction += 1;
      if (byTransaction < 5) await store.transact((tx) => tx.release(task));
    }
  });
  await clock.advance(0);
  assert.equal(runs, 1);
  await clock.advance(99);
  assert.equal(runs, 1);
  await clock.advance(1);
  assert.equal(runs, 2);
  // 100, 200, 400, 800, and 1 600 ms from then on.
  await clock.advance(200 + 400 + 800 + 1_600 - 1);
  assert.deepEqual([runs, (await queue.counts()).ready], [5, 2]);
  await clock.advance(60_000);
  assert.deepEqual([runs, byTransaction], [9, 5]);
  await worker.idle();
  await store.close();
});

test('what is given back is there for others, and what is due later needs no pause', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('a', { maxAttempts: 3, backoff: { base: 0 } });
  const attempts: number[] = [];
  queue.work(({ attempt }) => {
    attempts.push(attempt);
    throw new Error('no');
  });
  await clock.advance(0);
  assert.deepEqual(attempts, [1, 2, 3]);
  await queue.enqueue('b');
  const [task] = await queue.claim('other');
  await task?.release();
  await clock.advance(0);
  assert.equal(attempts.length, 4);
});
