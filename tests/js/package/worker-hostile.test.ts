/** What no worker should have to see: it goes on, or refuses by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, throws } from './support.js';
import { reasonOf, tabs } from './working-support.js';

test('a signal that cannot be listened to is refused, and nothing has begun', async () => {
  const { queue, clock, store } = await bench();
  for (const signal of [{ aborted: false }, { aborted: 'no', addEventListener: () => {} }, null]) {
    const bad = signal as unknown as AbortSignal;
    throws(() => queue.work(() => 1, { signal: bad }), 'INVALID_ARGUMENT');
    throws(() => store.events({ signal: bad }), 'INVALID_ARGUMENT');
  }
  await queue.enqueue('stays');
  await clock.advance(60_000);
  assert.equal((await queue.counts()).ready, 1);
  assert.equal(clock.timers, 0);
});

test('a worker stops when the claim has lapsed that its journal lets nobody settle', async () => {
  const { one, outage, clock } = await tabs();
  await one.queue.enqueue(1);
  const signals: AbortSignal[] = [];
  const worker = one.queue.work(
    (_, { signal }) => {
      signals.push(signal);
      outage.isOn = true;
    },
    { lease: 1_000 },
  );
  await clock.settle();
  const stopped = worker.stop();
  await clock.advance(30_000);
  assert.deepEqual(signals.map(reasonOf), ['LEASE_LOST']);
  assert.equal(worker.running, 0);
  await stopped;
});

const HOSTILE: [string, () => unknown][] = [
  ['a message that throws', () => withGetter('message', new RangeError('mine'))],
  ['a name that throws what has no text', () => withGetter('name', Object.create(null))],
  ['a message without text', () => Object.assign(new Error(), { message: Object.create(null) })],
  ['a proxy that was revoked', revoked],
];

for (const [what, make] of HOSTILE) {
  test(`an attempt fails whose handler throws an error with ${what}`, async () => {
    const { queue, clock } = await bench();
    const { id } = await queue.enqueue(1, { maxAttempts: 1 });
    const worker = queue.work(() => {
      throw make();
    });
    await clock.settle();
    assert.equal((await queue.get(id))?.deadReason, 'exhausted');
    assert.equal(worker.running, 0);
    await worker.stop();
  });
}

test('what a listener of errors throws or rejects with is its own', async () => {
  const { one, outage, clock } = await tabs();
  await one.queue.enqueue(1);
  outage.isOn = true;
  let told = 0;
  const onError = () => {
    told += 1;
    if (told === 1) throw new Error('thrown');
    return Promise.reject(new Error('rejected'));
  };
  const worker = one.queue.work(() => 1, { onError });
  await clock.advance(1_000);
  outage.isOn = false;
  await clock.advance(60_000);
  assert.ok(told > 1);
  assert.equal((await one.queue.counts()).ready, 0);
  await worker.stop();
});

function withGetter(name: string, thrown: unknown): Error {
  return Object.defineProperty(new Error('seen by nobody'), name, {
    get: () => {
      throw thrown;
    },
  });
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
