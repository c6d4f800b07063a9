/** What others bring (a journal, a clock, options) and what is said when it breaks its contract. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, type Journal, memory, type News, open } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { journalConformance } from '../../../pkg/dist/testing/conformance.js';
import { bench, rejects, throws } from './support.js';

function changed(inner: Journal, change: Partial<Journal>): Journal {
  return {
    open: (name, options) => inner.open(name, options),
    commit: (after, decide) => inner.commit(after, decide),
    compact: (slot, snapshot) => inner.compact(slot, snapshot),
    close: () => inner.close(),
    ...change,
  };
}

function hostile(): never {
  throw new TypeError('a trap');
}

const trap = <T extends object>(like: T): T =>
  new Proxy(like, { get: hostile, ownKeys: hostile, has: hostile, getPrototypeOf: hostile });

test('a journal that never asks what to store is told so, and nothing hangs', async () => {
  const clock = virtualClock();
  const idle = changed(memory(), { commit: async () => undefined });
  const error = await rejects(open('test', { journal: idle, clock }), 'INVALID_ARGUMENT');
  assert.match(error.message, /^journal: its commit ended without calling decide; /);
  // The same for one that begins to behave so later, in a command, a read, and a replay.
  const inner = memory();
  let isIdle = false;
  const journal = changed(inner, {
    commit: async (after, decide) => (isIdle ? undefined : inner.commit(after, decide)),
  });
  const store = await open('test', { journal, clock });
  await store.kv.put('a', 1);
  const events = store.events({ from: 0 })[Symbol.asyncIterator]();
  isIdle = true;
  await rejects(store.kv.put('b', 1), 'INVALID_ARGUMENT');
  await rejects(store.kv.get('a'), 'INVALID_ARGUMENT');
  await rejects(events.next(), 'INVALID_ARGUMENT');
  isIdle = false;
  await store.kv.put('b', 1);
  await store.close();
});

test('a journal that asks when it has answered already is refused', async () => {
  const inner = memory();
  const late: unknown[] = [];
  const journal = changed(inner, {
    commit: async (after, decide) => {
      await inner.commit(after, decide);
      queueMicrotask(() =>
        setImmediate(() => {
          try {
            decide({ entries: [], tip: null });
          } catch (error) {
            late.push(error);
          }
        }),
      );
    },
  });
  const { store, clock } = await bench({ journal });
  await store.kv.put('a', 1);
  await clock.settle();
  assert.ok(late.length >= 2);
  for (const error of late) {
    assert.match(String(error), /journal: its commit called decide after it had ended/);
  }
  assert.equal((await store.kv.get('a'))?.value, 1);
});

test('news that cannot be read are told as damage', async () => {
  for (const bad of [undefined, 7, {}, { entries: 1, tip: null }, trap({})]) {
    const inner = memory();
    let isBad = false;
    const journal = changed(inner, {
      commit: (after, decide) =>
        inner.commit(after, (real) => decide(isBad ? (bad as unknown as News) : real)),
    });
    const { store } = await bench({ journal });
    isBad = true;
    const error = await store.kv.put('a', 1).catch((thrown: unknown) => thrown);
    assert.ok(['JOURNAL_CORRUPT', 'LOG_REPLACED'].includes((error as { code: string }).code));
  }
});

test('a journal whose open throws is typed; one whose watch throws has no hints', async () => {
  const clock = virtualClock();
  const bad = changed(memory(), { open: hostile });
  await rejects(open('test', { journal: bad, clock }), 'JOURNAL_UNAVAILABLE');
  const stops = [hostile, () => hostile, () => () => Promise.reject(new Error('no'))];
  for (const watch of stops) {
    const store = await open('test', { journal: changed(memory(), { watch }), clock });
    const ran: unknown[] = [];
    const worker = store.queue('mail').work(({ payload }) => void ran.push(payload));
    await store.queue('mail').enqueue(1);
    await clock.advance(60_000);
    assert.deepEqual(ran, [1]);
    await worker.stop();
    await store.close();
  }
});

test('a clock that tells no time or sets no timer is refused by name', async () => {
  const fine = virtualClock();
  const like = (change: object): Clock => ({
    now: () => fine.now(),
    monotonic: () => fine.monotonic(),
    setTimer: (ms, fn) => fine.setTimer(ms, fn),
    ...change,
  });
  for (const [argument, change] of [
    ['clock.monotonic', { monotonic: () => 'soon' }],
    ['clock.monotonic', { monotonic: () => Number.NaN }],
    ['clock.monotonic', { monotonic: hostile }],
    ['clock.now', { now: hostile }],
    ['clock.now', { now: () => undefined }],
    ['clock.setTimer', { setTimer: hostile }],
    ['clock.setTimer', { setTimer: () => undefined }],
  ] as const) {
    const error = await rejects(
      open('test', { journal: memory(), clock: like(change) }),
      'INVALID_ARGUMENT',
    );
    assert.equal(error.details.argument, argument);
  }
});

test('a clock that breaks later stands still, and no call fails for it', async () => {
  const clock = virtualClock();
  const broken = { ...clock, isBroken: false };
  const open2 = {
    now: () => (broken.isBroken ? hostile() : clock.now()),
    monotonic: () => (broken.isBroken ? Number.NaN : clock.monotonic()),
    setTimer: (ms: number, fn: () => void) => clock.setTimer(ms, fn),
  };
  const store = await open('test', { journal: memory(), clock: open2 });
  broken.isBroken = true;
  const { id } = await store.queue('mail').enqueue(1);
  assert.equal((await store.queue('mail').get(id))?.state, 'ready');
  await store.close();
});

test('what throws when it is read is named, and the error is the cause', async () => {
  const { store, queue } = await bench();
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const bad of [trap({}), revoked as object]) {
    for (const call of [
      () => queue.enqueue(bad),
      () => queue.enqueue({ deep: [bad] }),
      () => queue.enqueue(1, bad),
      () => queue.enqueue(1, { backoff: bad }),
      () => queue.enqueue(1, { writes: bad as never }),
      () => queue.enqueueMany(bad as never),
      () => queue.completeMany([bad as never]),
      () => queue.claim('w', bad),
      () => store.kv.put('k', bad),
      () => store.lease('l').acquire('w', bad as never),
      () => store.transact((tx) => tx.complete(bad as never)),
      () => store.transact((tx) => tx.require(bad as never)),
      () => open('test', bad),
      () => open('test', { journal: bad as never }),
      () => open('test', { clock: bad as never }),
      () => store.schedule('s', bad as never, { queue: 'mail', payload: 1 }),
      () => store.schedule('s', { every: 1 }, bad as never),
    ]) {
      const error = await call().then(
        () => undefined,
        (thrown: { code?: string }) => thrown,
      );
      assert.match(String(error?.code), /^INVALID_(ARGUMENT|SCHEDULE)$/, `${call}: ${error}`);
    }
    for (const call of [
      () => queue.work(() => undefined, bad),
      () => queue.work(() => undefined, { signal: bad as never }),
      () => store.queue('q', { codec: bad as never }),
      () => store.as(bad as never),
      () => store.events(bad),
    ]) {
      throws(call, 'INVALID_ARGUMENT');
    }
  }
  const cause = (await queue.enqueue(trap({})).catch((error: unknown) => error)) as Error;
  assert.ok(cause.cause instanceof TypeError);
});

test('a case of the suite for journals that fails still gives its journal back', async () => {
  const bodies: (() => Promise<void>)[] = [];
  const disposed = { count: 0 };
  journalConformance(
    () => ({
      journal: () => Promise.reject(new Error('no journal')),
      dispose: async () => {
        disposed.count += 1;
      },
    }),
    { test: (_, body) => bodies.push(body) },
  );
  for (const body of bodies) await assert.rejects(body(), /no journal/);
  assert.equal(disposed.count, bodies.length);
});
