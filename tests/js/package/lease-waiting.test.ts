/** Promises 40 and 41: waiting for a lease, in the order of asking, and holding one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Lease, put, type Store } from 'fencepost';
import { bench, refused, rejects } from './support.js';
import { Gate, HOUR, reasonOf, tabs } from './working-support.js';

type Granted = { ok: true; lease: Lease } | { ok: false; owner?: string; until?: number };

/** Asks for the lease `job`, and notes in `order` who was granted. */
function ask(store: Store, owner: string, order: string[], wait = Infinity): Promise<Granted> {
  const asking = store.lease('job').acquire(owner, { ttl: 1_000, wait });
  void asking.then(({ ok }) => order.push(ok ? owner : `not ${owner}`));
  return asking;
}

function leaseOf(granted: Granted): Lease {
  return granted.ok ? granted.lease : assert.fail('it was granted');
}

test('those who wait in one store are granted in the order of asking', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  const first = leaseOf(await ask(store, 'a', order));
  const waiting = ['b', 'c', 'd'].map((owner) => ask(store, owner, order));
  await clock.settle();
  const releasing = first.release();
  // In the very tick of the release: behind those who waited before.
  const late = ask(store, 'e', order);
  await releasing;
  for (const granted of [...waiting, late]) await leaseOf(await granted).release();
  assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e']);
});

test('those who wait are granted in the order of asking when the lease just ends', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  await ask(store, 'a', order);
  for (const owner of ['b', 'c', 'd']) void ask(store, owner, order);
  await clock.settle();
  for (const granted of ['b', 'c', 'd']) {
    await clock.advance(999);
    assert.ok(!order.includes(granted));
    await clock.advance(1);
    assert.equal(order.at(-1), granted);
  }
  assert.equal((await store.lease('job').status())?.owner, 'd');
});

test('a wait that ends as the lease is free goes behind those before it', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  const holder = leaseOf(await ask(store, 'a', order));
  void ask(store, 'b', order);
  await clock.settle();
  const limited = ask(store, 'c', order, 1_500);
  await clock.advance(500);
  await holder.renew();
  await clock.advance(1_000);
  const outcome = await limited;
  assert.deepEqual(order, ['a', 'b', 'not c']);
  assert.deepEqual(outcome.ok || [outcome.owner, outcome.until], ['b', clock.now() + 1_000]);
});

test('whoever gives up leaves its place, and the next one is not forgotten', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  const first = leaseOf(await ask(store, 'a', order));
  const stop = new AbortController();
  const { signal } = stop;
  const gone = store.lease('job').acquire('b', { ttl: 5, wait: Infinity, signal });
  const settled = assert.rejects(gone, /enough/);
  await clock.settle();
  void ask(store, 'c', order, 500);
  void ask(store, 'd', order);
  await clock.advance(100);
  stop.abort(new Error('enough'));
  await settled;
  await clock.advance(500);
  assert.deepEqual(order, ['a', 'not c']);
  await first.release();
  await clock.settle();
  assert.deepEqual(order, ['a', 'not c', 'd']);
});

test('the holder is granted its own lease again while others wait', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  const first = leaseOf(await ask(store, 'a', order));
  void ask(store, 'b', order);
  await clock.settle();
  const again = leaseOf(await ask(store, 'a', order, 100));
  assert.ok(again.token > first.token);
  assert.deepEqual(order, ['a', 'a']);
});

test('a grant that crossed an abort is given back, also while others wait', async () => {
  const { one, journal, clock } = await tabs();
  const first = await one.store.lease('job').acquire('a', { ttl: HOUR });
  const stop = new AbortController();
  const { signal } = stop;
  const crossed = one.store.lease('job').acquire('b', { ttl: HOUR, wait: Infinity, signal });
  const settled = assert.rejects(crossed, /enough/);
  await clock.settle();
  const order: string[] = [];
  const next = ask(one.store, 'c', order);
  await clock.settle();
  assert.ok(first.ok);
  await first.lease.release();
  journal.plan('commit', 'hold-reply');
  await clock.settle();
  assert.equal(journal.held, 1, 'the grant is stored and not told yet');
  stop.abort(new Error('enough'));
  journal.release();
  await settled;
  assert.equal(leaseOf(await next).owner, 'c');
});

test('closing ends all who wait, of the store and of its restrictions', async () => {
  const { store, clock } = await bench();
  await store.lease('job').acquire('a', { ttl: HOUR });
  const caller = store.as({ actor: 'x', may: [{ lease: 'job', rights: ['acquire'] }] });
  const acquire = (of: Store, owner: string) =>
    rejects(of.lease('job').acquire(owner, { ttl: 1, wait: Infinity }), 'STORE_CLOSED');
  const waiting = [acquire(store, 'b'), acquire(caller, 'c'), acquire(store, 'd')];
  await clock.settle();
  await caller.close();
  await waiting[1];
  await store.close();
  await Promise.all(waiting);
  assert.equal(clock.timers, 0);
});

test('a release by another tab is noticed even when it came just before the waiting', async () => {
  const { one, other, journal, clock } = await tabs();
  const granted = await other.store.lease('job').acquire('a', { ttl: HOUR });
  assert.ok(granted.ok);
  journal.plan('commit', 'hold-reply');
  const order: string[] = [];
  void ask(one.store, 'b', order);
  await clock.settle();
  await granted.lease.release();
  journal.release();
  await clock.settle();
  assert.deepEqual(order, ['b']);
});

test('hold renews while its body runs, and releases when it returns or throws', async () => {
  const { one, other, clock } = await tabs();
  const name = one.store.lease('job');
  const gate = new Gate<string>();
  let held: Lease | undefined;
  const holding = name.hold('a', { ttl: 3_000 }, (lease) => {
    held = lease;
    return gate.opened;
  });
  for (let second = 0; second < 30; second += 1) {
    await clock.advance(1_000);
    const taken = await other.store.lease('job').acquire('thief', { ttl: 1 });
    assert.equal(taken.ok, false, `second ${second}`);
  }
  assert.equal(reasonOf(held?.signal), null);
  gate.open('value');
  assert.equal(await holding, 'value');
  assert.equal((await name.status())?.owner, undefined);
  const failing = name.hold('b', { ttl: 3_000 }, async () => {
    throw new Error('of the body');
  });
  await assert.rejects(failing, /of the body/);
  assert.equal((await name.status())?.owner, undefined);
  const { firings } = clock;
  await clock.advance(HOUR);
  assert.equal(clock.firings, firings);
});

test('hold waits for the lease, in line, until its signal aborts', async () => {
  const { store, clock } = await bench();
  const order: string[] = [];
  const name = store.lease('job');
  const hold = (owner: string, signal?: AbortSignal) =>
    name.hold(owner, signal === undefined ? { ttl: 500 } : { ttl: 500, signal }, async () => {
      order.push(owner);
    });
  const first = await name.acquire('a', { ttl: HOUR });
  const stop = new AbortController();
  const given = assert.rejects(hold('b', stop.signal), /enough/);
  await clock.settle();
  const others = [hold('c'), hold('d')];
  await clock.settle();
  stop.abort(new Error('enough'));
  await given;
  if (first.ok) await first.lease.release();
  await Promise.all(others);
  assert.deepEqual(order, ['c', 'd']);
});

test('a held lease that is taken over aborts its signal, and its writes are refused', async () => {
  const { one, other, clock } = await tabs();
  const gate = new Gate();
  const holding = one.store.lease('job').hold('a', { ttl: 3_000 }, async (lease) => {
    await gate.opened;
    assert.equal(reasonOf(lease.signal), 'LEASE_LOST');
    refused(await lease.guardedCommit([put('x', 1)]), 'fenced');
    return 'over';
  });
  await clock.settle();
  await clock.freeze(3_000);
  const taken = await other.store.lease('job').acquire('b', { ttl: HOUR });
  assert.ok(taken.ok);
  await clock.advance(0);
  gate.open();
  assert.equal(await holding, 'over');
  assert.equal((await other.store.lease('job').status())?.owner, 'b');
  assert.equal(await one.store.kv.get('x'), null);
});

test('the signal of a held lease aborts at its end when no renewal could be made', async () => {
  const { one, outage, clock } = await tabs();
  const gate = new Gate();
  let lease: Lease | undefined;
  const holding = one.store.lease('job').hold('a', { ttl: 3_000 }, (given) => {
    lease = given;
    return gate.opened;
  });
  await clock.settle();
  outage.isOn = true;
  await clock.advance(1_500);
  outage.isOn = false;
  await clock.advance(1_500);
  assert.equal(reasonOf(lease?.signal), null, 'one failure is made good');
  outage.isOn = true;
  const { until = 0 } = lease ?? {};
  await clock.advance(until - clock.now() - 1);
  assert.equal(reasonOf(lease?.signal), null);
  await clock.advance(1);
  assert.equal(reasonOf(lease?.signal), 'LEASE_LOST');
  const { firings } = clock;
  await clock.advance(60_000);
  assert.equal(clock.firings, firings, 'nothing is tried any more');
  gate.open();
  await holding;
});

test('closing the store tells who holds a lease, and leaves no timer behind', async () => {
  for (const isRestricted of [false, true]) {
    const { one, other, clock } = await tabs();
    const rights = { actor: 'ann', may: [{ lease: '*', rights: ['acquire' as const] }] };
    const store = isRestricted ? one.store.as(rights) : one.store;
    let signal: AbortSignal | undefined;
    const holding = store.lease('job').hold('a', { ttl: 3_000 }, async (lease) => {
      signal = lease.signal;
      await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      return 'over';
    });
    await clock.settle();
    const { until = 0 } = (await other.store.lease('job').status()) ?? {};
    await store.close();
    assert.equal(reasonOf(signal), 'LEASE_LOST');
    assert.match(String(signal?.reason), /the store was closed/);
    assert.equal(await holding, 'over');
    await one.store.close();
    const taken = await other.store.lease('job').acquire('b', { ttl: 1 });
    assert.deepEqual(taken, { ok: false, reason: 'held', owner: 'a', until });
    await other.store.close();
    assert.equal(clock.timers, 0);
  }
});

test('a lease granted in the moment of the close is not held without an end', async () => {
  const { one, other, clock } = await tabs();
  let signal: AbortSignal | undefined;
  const holding = one.store.lease('job').hold('a', { ttl: 3_000 }, async (lease) => {
    signal = lease.signal;
    if (signal.aborted) return;
    await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
  });
  const settled = Promise.allSettled([holding]);
  await one.store.close();
  const [outcome] = await settled;
  if (outcome?.status === 'fulfilled') assert.equal(reasonOf(signal), 'LEASE_LOST');
  else assert.equal(outcome?.reason.code, 'STORE_CLOSED');
  await other.store.close();
  assert.equal(clock.timers, 0);
});

test('a bad hold is refused by name', async () => {
  const { store } = await bench();
  const name = store.lease('job');
  const hold = name.hold.bind(name) as (...args: unknown[]) => Promise<unknown>;
  await rejects(
    hold('a', { ttl: 0 }, () => 1),
    'INVALID_ARGUMENT',
  );
  await rejects(hold('a', { ttl: 1 }, 'body'), 'INVALID_ARGUMENT');
  await rejects(
    hold('a', { ttl: 1, wait: 5 }, () => 1),
    'INVALID_ARGUMENT',
  );
  await rejects(
    hold(' ', { ttl: 1 }, () => 1),
    'INVALID_NAME',
  );
  assert.equal(await name.status(), null);
});

test('a hold that lost its lease to a silent journal ends with its body', async () => {
  const { one, journal, clock } = await tabs();
  const held = one.store.lease('leader').hold('me', { ttl: 1_000 }, async ({ signal }) => {
    journal.plan('commit', 'hold-request');
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    return 'over';
  });
  await clock.advance(1_500);
  assert.equal(await held, 'over');
  journal.release();
  await one.store.close();
});
