/** Promise 64: claims that are lost, and journals that fail under a worker. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HandlerContext, type Journal, memory, open } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench, rejects } from './support.js';
import { Gate, HOUR, reasonOf, tabs } from './working-support.js';

test('a handler that blocks past its lease loses it, and its late result is refused', async () => {
  const { one, other, clock } = await tabs();
  const { id } = await one.queue.enqueue('slow', { resultRetention: HOUR });
  const gate = new Gate<string>();
  let signal: AbortSignal | undefined;
  const slow = one.queue.work(
    (_, context) => {
      signal = context.signal;
      return gate.opened;
    },
    { lease: 3_000 },
  );
  await clock.settle();
  await clock.freeze(3_001);
  const [taken] = await other.queue.claim('second');
  assert.equal(taken?.attempt, 2);
  await clock.advance(0);
  assert.equal(reasonOf(signal), 'LEASE_LOST');
  gate.open('late');
  await clock.settle();
  assert.equal(slow.running, 0);
  assert.equal((await other.queue.get(id))?.owner, 'second');
  assert.ok((await taken?.complete('first to count'))?.ok);
  assert.equal(await one.queue.result(id), 'first to count');
  assert.equal((await one.queue.get(id))?.attempt, 2);
  await slow.stop();
});

test('a result that comes at once after the block is refused and aborts the signal', async () => {
  const { queue, clock } = await bench();
  const { id } = await queue.enqueue('slow');
  const signals: AbortSignal[] = [];
  const worker = queue.work(
    async (_, { signal }) => {
      signals.push(signal);
      if (signals.length > 1) return;
      await clock.freeze(3_001);
    },
    { lease: 3_000 },
  );
  await clock.settle();
  await clock.settle();
  assert.deepEqual(signals.map(reasonOf), ['LEASE_LOST', null]);
  assert.equal(await queue.get(id), null);
  await worker.stop();
});

test('a renewal whose reply is lost is sent again, and the claim is kept', async () => {
  const { one, journal, clock } = await tabs();
  await one.queue.enqueue(1);
  let context: HandlerContext | undefined;
  const gate = new Gate();
  const worker = one.queue.work(
    (_, given) => {
      context = given;
      return gate.opened;
    },
    { lease: 3_000 },
  );
  await clock.settle();
  journal.plan('commit', 'lose-reply', 'lose-reply');
  await clock.advance(1_500);
  journal.plan('commit', 'refuse', 'refuse');
  await clock.advance(10_000);
  assert.equal(reasonOf(context?.signal), null);
  gate.open();
  await worker.idle();
  assert.deepEqual((await one.queue.list()).items, []);
  await worker.stop();
});

test('a failing journal is tried again after growing pauses, and work goes on', async () => {
  const { one, other, outage, clock } = await tabs();
  const codes: string[] = [];
  const ran: unknown[] = [];
  const worker = one.queue.work(({ payload }) => void ran.push(payload), {
    onError: ({ code }) => {
      codes.push(code);
      throw new Error('of the listener');
    },
  });
  await worker.idle();
  outage.isOn = true;
  await one.queue.enqueue(1).catch(() => undefined);
  await other.queue.enqueue(2, { delay: 1_000 });
  await other.queue.enqueue(3);
  const { firings } = clock;
  await clock.advance(600_000);
  assert.ok(clock.firings - firings < 80, `${clock.firings - firings} firings in ten minutes`);
  outage.isOn = false;
  await clock.advance(10_000);
  assert.deepEqual(ran, [3, 2]);
  outage.isOn = true;
  const hint = one.queue.enqueue(4).catch(() => undefined);
  await clock.advance(1_000);
  await hint;
  outage.isOn = false;
  await one.queue.enqueue(5);
  await clock.settle();
  assert.deepEqual(ran, [3, 2, 5]);
  await worker.stop();
  assert.deepEqual(codes, []);
});

test('a claim that the journal refuses is told and tried again', async () => {
  const { one, journal, clock } = await tabs();
  await one.queue.enqueue(1);
  const codes: string[] = [];
  const ran: number[] = [];
  journal.plan('commit', 'full', 'refuse', 'refuse');
  const start = clock.monotonic();
  const worker = one.queue.work(() => void ran.push(clock.monotonic() - start), {
    onError: ({ code }) => {
      codes.push(code);
      throw new Error('of the listener');
    },
  });
  await clock.advance(5_000);
  assert.deepEqual(ran, [100 + 200 + 400]);
  assert.deepEqual(codes, ['JOURNAL_FULL', 'JOURNAL_UNAVAILABLE', 'JOURNAL_UNAVAILABLE']);
  await worker.stop();
});

test('a settlement that the journal refuses is tried again while the claim is held', async () => {
  for (const fault of ['refuse', 'full', 'lose-request', 'lose-reply'] as const) {
    const { one, journal, clock } = await tabs();
    const { id } = await one.queue.enqueue(1, { resultRetention: HOUR });
    const gate = new Gate<string>();
    const worker = one.queue.work(() => gate.opened);
    await clock.settle();
    journal.plan('commit', fault, fault, fault);
    gate.open('kept');
    await clock.advance(2_000);
    assert.equal((await one.queue.get(id))?.result, 'kept', fault);
    assert.equal(worker.running, 0);
    await worker.stop();
  }
});

test('a settlement that never comes through lapses, and the worker goes on', async () => {
  const { one, outage, clock } = await tabs();
  const { id } = await one.queue.enqueue(1);
  const gate = new Gate();
  const attempts: number[] = [];
  const worker = one.queue.work(
    ({ attempt }) => {
      attempts.push(attempt);
      return attempt === 1 ? gate.opened : undefined;
    },
    { lease: 3_000 },
  );
  await clock.settle();
  outage.isOn = true;
  gate.open();
  await clock.advance(20_000);
  outage.isOn = false;
  await clock.advance(10_000);
  assert.deepEqual(attempts, [1, 2]);
  assert.equal(await one.queue.get(id), null);
  await worker.stop();
});

test('a worker ends by itself when the log was replaced, and says why', async () => {
  const [clock, inner] = [virtualClock(), { journal: memory() }];
  const journal = {
    open: (name: string) => inner.journal.open(name),
    commit: (...args: Parameters<ReturnType<typeof memory>['commit']>) =>
      inner.journal.commit(...args),
    compact: (...args: Parameters<Journal['compact']>) => inner.journal.compact(...args),
    close: () => inner.journal.close(),
  };
  const store = await open('test', { clock, journal });
  const queue = store.queue('mail');
  await queue.enqueue(1);
  let signal: AbortSignal | undefined;
  const errors: string[] = [];
  const worker = queue.work(
    (_, context) => {
      signal = context.signal;
      return new Gate().opened;
    },
    { lease: 3_000, onError: ({ code }) => errors.push(code) },
  );
  await clock.settle();
  inner.journal = memory();
  const fresh = await open('test', { clock, journal: inner.journal });
  await clock.advance(5_000);
  assert.deepEqual([reasonOf(signal), worker.running, errors[0]], ['STOPPED', 0, 'LOG_REPLACED']);
  await rejects(worker.idle(), 'LOG_REPLACED');
  await worker.stop();
  await store.close();
  await fresh.close();
  assert.equal(clock.timers, 0);
});
