/** Promises 34 to 40, locks and effects, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, type Lease, memory, open, put, type Store } from 'fencepost';
import { bench, held, refused, rejects, throws } from './support.js';

async function acquired(store: Store, owner: string, ttl = 100): Promise<Lease> {
  const granted = await store.lease('job').acquire(owner, { ttl });
  assert.ok(granted.ok);
  return granted.lease;
}

test('the first owner is granted, another is told who holds it until when', async () => {
  const { store } = await bench();
  const first = await acquired(store, 'a');
  assert.deepEqual(await store.lease('job').acquire('b', { ttl: 5 }), {
    ok: false,
    reason: 'held',
    owner: 'a',
    until: first.until,
  });
  const again = await acquired(store, 'a', 200);
  assert.ok(again.token > first.token && again.until > first.until);
  refused(await first.guardedCommit([]), 'fenced');
});

test('a lease of no length ends at once and its owner writes nothing', async () => {
  const { store } = await bench();
  const first = await acquired(store, 'a', 0);
  const second = await acquired(store, 'b');
  assert.ok(second.token > first.token);
  refused(await first.guardedCommit([put('x', 1)]), 'fenced');
  assert.equal(await store.kv.get('x'), null);
});

test('a late renewal holds while nobody took over', async () => {
  const { store, clock } = await bench();
  const lease = await acquired(store, 'a');
  clock.setWall(clock.now() + 500);
  refused(await lease.guardedCommit([]), 'expired');
  assert.deepEqual((await store.lease('job').adopt(lease.token))?.owner, 'a');
  assert.equal(held(await lease.renew()).until, clock.now() + 100);
  assert.equal(lease.until, clock.now() + 100);
  held(await lease.renew({ ttl: 7, meta: { at: 1 } }));
  assert.deepEqual(lease.meta, { at: 1 });
  clock.setWall(clock.now() + 7);
  await acquired(store, 'b');
  refused(await lease.renew(), 'fenced');
  assert.equal(await store.lease('job').adopt(lease.token), null);
});

test('a guarded commit applies its writes while the lease is held', async () => {
  const { store } = await bench();
  const lease = await acquired(store, 'a');
  const done = await lease.guardedCommit([put('x', 1)]);
  assert.equal(done.ok && done.version, (await store.kv.get('x'))?.version);
  refused(await lease.guardedCommit([check('x', null), put('x', 2)]), 'changed');
  held(
    await lease.guardedCommit((tx) => {
      tx.kv.put('x', (tx.kv.get<number>('x')?.value ?? 0) + 10);
    }),
  );
  assert.equal((await store.kv.get('x'))?.value, 11);
  held(await lease.guardedCommit([]));
  await lease.release();
  refused(await lease.guardedCommit([]), 'released');
  refused(await lease.guardedCommit((tx) => tx.kv.put('x', 99)), 'released');
  assert.equal((await store.kv.get('x'))?.value, 11);
});

test('a release frees its own lease only, however often it comes', async () => {
  const { store, clock } = await bench();
  const first = await acquired(store, 'a');
  await first.release();
  await first.release();
  const record = await store.lease('job').status();
  assert.deepEqual([record?.owner, record?.until, record?.token], [undefined, 0, first.token]);
  const second = await acquired(store, 'b');
  assert.ok(second.token > first.token);
  await first.release();
  assert.equal((await store.lease('job').status())?.owner, 'b');
  refused(await first.renew(), 'fenced');
  await second.release();
  await clock.advance(86_400_000);
  assert.equal(await store.lease('job').status(), null);
});

test('release and renew in one tick leave the lease released, in either order', async () => {
  for (const order of ['release first', 'renew first']) {
    const { store } = await bench();
    const lease = await acquired(store, 'a');
    const calls = [() => lease.release(), () => lease.renew()];
    if (order === 'renew first') calls.reverse();
    await Promise.all(calls.map((call) => call()));
    refused(await lease.renew(), 'released');
  }
});

test('metadata is kept until it is replaced, and null replaces', async () => {
  const { store } = await bench();
  const name = store.lease('job');
  await name.acquire('a', { ttl: 10, meta: { host: 1 } });
  const again = await name.acquire('a', { ttl: 10 });
  assert.deepEqual(again.ok && again.lease.meta, { host: 1 });
  await name.acquire('a', { ttl: 10, meta: null });
  assert.equal((await name.status())?.meta, null);
});

test('a waiter is granted when the lease is given back, here and by another store', async () => {
  const { store, journal, clock } = await bench();
  const other = await open('test', { journal, clock });
  const lease = await acquired(store, 'a', 60_000);
  const waiting = other.lease('job').acquire('b', { ttl: 10, wait: Infinity });
  await clock.settle();
  await lease.release();
  const granted = await waiting;
  assert.ok(granted.ok && granted.lease.token > lease.token);
});

test('a lease that ends at the very end of the wait is granted', async () => {
  const { store, clock } = await bench();
  await acquired(store, 'a', 100);
  const waiting = store.lease('job').acquire('b', { ttl: 10, wait: 100 });
  await clock.advance(100);
  assert.ok((await waiting).ok);
});

test('waiting ends on its limit with the refusal, and leaves no timer behind', async () => {
  const { store, clock } = await bench();
  await acquired(store, 'a', 1_000);
  const timers = clock.timers;
  const waiting = store.lease('job').acquire('b', { ttl: 10, wait: 100 });
  let isOver = false;
  void waiting.then(() => {
    isOver = true;
  });
  await clock.advance(99);
  assert.equal(isOver, false);
  await clock.advance(1);
  const outcome = await waiting;
  assert.equal(!outcome.ok && outcome.owner, 'a');
  const { firings } = clock;
  await clock.advance(3_600_000);
  assert.deepEqual([clock.firings, clock.timers], [firings, timers]);
});

test('a waiter that gave up is never granted', async () => {
  const { store, clock } = await bench();
  const lease = await acquired(store, 'a', 1_000);
  const stop = new AbortController();
  const reason = new Error('enough');
  const { signal } = stop;
  const waiting = store.lease('job').acquire('b', { ttl: 10, wait: Infinity, signal });
  const settled = assert.rejects(waiting, reason);
  await clock.settle();
  const releasing = lease.release();
  stop.abort(reason);
  await Promise.all([settled, releasing]);
  await clock.advance(2_000);
  assert.equal((await store.lease('job').status())?.owner, undefined);
  await assert.rejects(store.lease('job').acquire('b', { ttl: 10, signal }), reason);
});

test('a closed store ends its waiters', async () => {
  const { store, clock } = await bench();
  await acquired(store, 'a', 1_000);
  const waiting = store.lease('job').acquire('b', { ttl: 10, wait: Infinity });
  const settled = rejects(waiting, 'STORE_CLOSED');
  await clock.settle();
  await store.close();
  await settled;
});

test('the signal of a lease aborts when it is known to be lost', async () => {
  const { store, clock } = await bench();
  const lost = await acquired(store, 'a', 10);
  assert.equal(lost.signal.aborted, false);
  clock.setWall(clock.now() + 10);
  const next = await acquired(store, 'b');
  assert.equal(lost.signal.reason.code, 'LEASE_LOST');
  assert.equal(next.signal.aborted, false);
  await next.release();
  assert.equal(next.signal.aborted, true);
});

test('held leases are listed in name order, by pages', async () => {
  const { store } = await bench();
  for (const name of ['b', 'a', 'ab', 'é']) await store.lease(name).acquire('w', { ttl: 100 });
  const released = await store.lease('aa').acquire('w', { ttl: 100 });
  if (released.ok) await released.lease.release();
  const first = await store.leases.list({ limit: 2 });
  assert.deepEqual(
    first.items.map(({ name }) => name),
    ['a', 'ab'],
  );
  const rest = await store.leases.list({ cursor: first.cursor ?? '' });
  assert.deepEqual(
    rest.items.map(({ name }) => name),
    ['b', 'é'],
  );
  assert.equal((await store.leases.list({ prefix: 'a' })).items.length, 2);
});

test('a lease ends with its scope', async () => {
  const { store } = await bench();
  const lease = await acquired(store, 'a');
  await lease[Symbol.asyncDispose]();
  refused(await lease.renew(), 'released');
});

test('a lock is granted again to its holder without being extended', async () => {
  const { store, clock } = await bench();
  const lock = store.lock('job');
  const [first, second] = await Promise.all([
    lock.try('a', { ttl: 100 }),
    lock.try('a', { ttl: 500 }),
  ]);
  assert.equal(first?.token, second?.token);
  assert.equal(await lock.try('b', { ttl: 100 }), null);
  assert.equal(await store.lease('job').status(), null);
  clock.setWall(clock.now() + 99);
  assert.equal(await first?.renew({ ttl: 10 }), true);
  clock.setWall(clock.now() + 10);
  assert.equal(await first?.renew({ ttl: 10 }), false);
  assert.equal(await first?.release(), false);
  const next = await lock.try('b', { ttl: 100 });
  assert.equal(await next?.release(), true);
  assert.equal(await next?.release(), false);
  await rejects(lock.try('a', { ttl: 0 }), 'INVALID_ARGUMENT');
  throws(() => store.lock('x'.repeat(201)), 'INVALID_NAME');
});

test('an effect is begun, found pending, and completed once', async () => {
  const { store } = await bench();
  const effect = store.effect('charge 7');
  assert.equal(await effect.status(), null);
  assert.deepEqual(await effect.begin(), { state: 'fresh' });
  assert.deepEqual(await effect.begin(), { state: 'pending', attempts: 2 });
  const writes = [check('sum', null), put('sum', 1)];
  assert.deepEqual(await effect.complete({ id: 1 }, { writes }), {
    applied: true,
    result: { id: 1 },
  });
  const late = { writes: [put('sum', 2)] };
  assert.deepEqual(await effect.complete('late', late), { applied: false, result: { id: 1 } });
  assert.equal((await store.kv.get('sum'))?.value, 1);
  assert.deepEqual(await effect.begin(), { state: 'committed', result: { id: 1 } });
  assert.equal((await effect.status())?.state, 'committed');
  assert.deepEqual((await store.kv.list()).items.length, 1);
  const other = store.effect('other');
  await rejects(other.complete(1, { writes: [check('sum', null)] }), 'CHECK_FAILED');
  assert.equal(await other.status(), null);
});

test('tokens rise over restarts and wiped storage', async () => {
  const { store, journal, clock } = await bench();
  const first = await acquired(store, 'a');
  await store.close();
  const again = await open('test', { journal, clock });
  assert.equal((await again.lease('job').adopt(first.token))?.token, first.token);
  const second = await acquired(again, 'a');
  clock.setWall(clock.now() + 1);
  const wiped = await open('test', { journal: memory(), clock });
  const third = await acquired(wiped, 'a');
  assert.ok(first.token < second.token && second.token < third.token);
});
