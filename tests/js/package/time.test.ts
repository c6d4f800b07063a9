/** The time of the log, and the clocks it comes from. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { memory, open } from 'fencepost';
import { LogClock, NOW_MAX } from '../../../pkg/dist/clock.js';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench, claimOne, held, payloads, throws } from './support.js';

test('the log follows the wall clock, and a jump forward is taken', () => {
  const clock = virtualClock(1_000);
  const log = new LogClock(clock);
  log.observe(1_000);
  assert.equal(log.now(), 1_000);
  clock.setWall(9_000);
  assert.equal(log.now(), 9_000);
});

test('a clock that is set back does not take the log with it, which runs slower', async () => {
  const clock = virtualClock(100_000);
  const log = new LogClock(clock);
  log.observe(100_000);
  clock.setWall(50_000);
  assert.equal(log.now(), 100_000);
  await clock.advance(100);
  assert.equal(log.now(), 100_090);
  await clock.advance(1_000_000);
  assert.equal(log.now(), clock.now());
});

test('fractions are carried, so that frequent commits do not stop it', async () => {
  const clock = virtualClock(100_000);
  const log = new LogClock(clock);
  log.observe(100_000);
  clock.setWall(0);
  for (let step = 0; step < 100; step += 1) {
    await clock.advance(1);
    log.observe(log.now());
  }
  assert.equal(log.now(), 100_090);
});

test('a clock beyond the year 2200 is broken and does not count', () => {
  const clock = virtualClock(NOW_MAX + 1);
  const log = new LogClock(clock);
  log.observe(5_000);
  assert.equal(log.now(), 5_000);
  clock.setWall(Number.NaN);
  assert.equal(log.now(), 5_000);
});

test('how long to wait counts in the speed of the log', () => {
  const clock = virtualClock(100_000);
  const log = new LogClock(clock);
  log.observe(100_000);
  assert.equal(log.delayUntil(100_090), 90);
  clock.setWall(0);
  assert.equal(log.delayUntil(100_090), 100);
  assert.equal(log.delayUntil(1), 0);
  assert.equal(log.delayUntil(Number.MAX_SAFE_INTEGER), 2 ** 31 - 1);
});

test('repairClock brings time back, cuts what would end too late, and tokens rise', async () => {
  const { store, queue, clock } = await bench();
  const real = clock.now();
  clock.setWall(real + 1_000_000_000);
  await queue.enqueue(1);
  const task = await claimOne(queue, 'w', { lease: 500 });
  clock.setWall(real);
  await store.repairClock();
  assert.equal((await queue.get(task.id))?.deadline, real + 500);
  const { version } = store;
  await store.repairClock();
  assert.equal(store.version, version);
  await queue.enqueue(2);
  assert.equal((await queue.get(2))?.createdAt, real);
  assert.ok((await claimOne(queue)).token > task.token);
  held(await task.complete());
});

test("a shared journal's clock is the authority", async () => {
  const clock = virtualClock();
  const journal = Object.assign(memory(), { now: () => 5_000 });
  const store = await open('test', { journal, clock });
  const { id } = await store.queue('mail').enqueue(1);
  assert.equal((await store.queue('mail').get(id))?.createdAt, 5_000);
});

test('a store leaves no timer behind', async () => {
  const { store, queue, clock } = await bench();
  await queue.enqueue(1, { delay: 1_000 });
  await queue.enqueue(2, { expiresIn: 2_000, deadRetention: 50 });
  assert.ok(clock.timers > 0);
  await store.close();
  assert.equal(clock.timers, 0);
});

test('a repair is not undone by the calls that are made with it', async () => {
  const { clock, store, queue } = await bench();
  const right = clock.now();
  await queue.enqueue('held', { lease: 60_000 });
  clock.setWall(right + 3_600_000);
  const task = await claimOne(queue);
  clock.setWall(right);
  const [, stolen, { id }] = await Promise.all([
    store.repairClock(),
    queue.claim('thief'),
    queue.enqueue('after', {}),
  ]);
  assert.deepEqual(payloads(stolen), []);
  assert.equal((await queue.get(id))?.createdAt, right);
  held(await task.complete());
});

test('the virtual clock does not take back what passed while a timer worked', async () => {
  const clock = virtualClock();
  clock.setTimer(5, () => void clock.freeze(100));
  await clock.advance(10);
  assert.equal(clock.monotonic(), 105);
});

test('a repair brings back a cron that only the log knows, though none was read yet', async () => {
  const YEAR = 365 * 86_400_000;
  const { clock, journal, store } = await bench();
  const right = clock.now();
  // By `require` it is another copy of the package: this one does not load what that one does.
  const copy = createRequire(import.meta.url)('fencepost') as { open: typeof open };
  const later = virtualClock(right + YEAR);
  const ahead = await copy.open('test', { journal, clock: later });
  await ahead.schedule('daily', { cron: '0 3 * * *' }, { queue: 'mail', payload: 1 });
  await ahead.close();
  await store.repairClock();
  assert.equal((await store.schedules.get('daily'))?.next, right + 3 * 3_600_000);
  await store.close();
});

test('a virtual clock begins at an instant and at nothing else', () => {
  for (const start of [{ start: 1_000 }, '1000', -1, 0.5, Number.NaN, null]) {
    throws(() => virtualClock(start as number), 'INVALID_ARGUMENT');
  }
  assert.equal(virtualClock(0).now(), 0);
});
