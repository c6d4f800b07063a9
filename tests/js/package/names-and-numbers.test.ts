/** Promises 45 to 47, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, memory, open, put, type Queue } from 'fencepost';
import { bench, claimOne, held, rejects, throws } from './support.js';

const FINE = [
  'a b',
  'é',
  '__proto__',
  'constructor',
  ':',
  '*',
  'toString',
  '\u0000',
  'x'.repeat(255),
];
const SAFE = Number.MAX_SAFE_INTEGER;
/** What is no whole number at all. */
const NO_NUMBERS = [Number.NaN, Infinity, 1.5, '5', null, {}, 5n, true];

test('names may hold anything that is not blank, too long or reserved', async () => {
  const { store } = await bench();
  for (const name of FINE) {
    await store.queue(name).enqueue(1, { key: name });
    const granted = await store.lease(name).acquire(name, { ttl: 1 });
    assert.ok(granted.ok);
    await store.kv.put(name, name);
    assert.equal((await store.kv.get(name))?.value, name);
    assert.ok(await store.lock(name.slice(0, 200)).try(name, { ttl: 1 }));
    await store.effect(name.slice(0, 200)).begin();
    await store.outbox(name.slice(0, 200)).enqueue(1);
  }
  const listed = (await store.kv.list()).items.map(({ key }) => key);
  assert.deepEqual(listed.sort(), [...FINE].sort());
  assert.ok((await store.verify()).ok);
});

test('makers throw at once for a bad name', async () => {
  const { store } = await bench();
  const makers = [
    (name: string) => store.queue(name),
    (name: string) => store.lease(name),
    (name: string) => store.lock(name),
    (name: string) => store.outbox(name),
    (name: string) => store.effect(name),
  ];
  for (const make of makers) {
    for (const name of ['', ' ', '\t\n', '\u2003', 'x'.repeat(1_025), '\ud800', 'a\udc00']) {
      throws(() => make(name), 'INVALID_NAME');
    }
    throws(() => make('__fencepost_x'), 'RESERVED_NAME');
    for (const name of [undefined, null, 7, {}])
      throws(() => make(name as string), 'INVALID_ARGUMENT');
  }
  throws(() => store.queue('é'.repeat(128)), 'INVALID_NAME');
  throws(() => store.queue('q', { leese: 1 } as object), 'INVALID_ARGUMENT');
  const codec = { name: ' ', encode: () => new Uint8Array(), decode: () => null };
  throws(() => store.queue('q', { codec }), 'INVALID_NAME');
  throws(() => store.queue('q', { codec: { encode: 1 } as never }), 'INVALID_ARGUMENT');
});

test('operations reject for a bad owner or key', async () => {
  const { store, queue } = await bench();
  await rejects(queue.claim(''), 'INVALID_NAME');
  await rejects(queue.claim('\ud800'), 'INVALID_NAME');
  await rejects(queue.claim(7 as unknown as string), 'INVALID_ARGUMENT');
  await queue.claim('__fencepost_owner');
  await rejects(queue.enqueue(1, { key: ' ' }), 'INVALID_NAME');
  await rejects(queue.enqueue(1, { key: 'k'.repeat(1_025) }), 'INVALID_NAME');
  await rejects(queue.enqueue(1, { key: '__fencepost_' }), 'RESERVED_NAME');
  await rejects(store.kv.get(''), 'INVALID_NAME');
  await rejects(store.kv.put('__fencepost_effect:x', 1), 'RESERVED_NAME');
  await rejects(queue.enqueue(1, { writes: [put('', 1)] }), 'INVALID_NAME');
  const task = await claimNew(queue);
  const followUps = [{ queue: '__fencepost_outbox:x', payload: 1 }];
  await rejects(task.complete(1, { followUps }), 'RESERVED_NAME');
  held(await task.complete());
});

test('an unknown option is refused by its name', async () => {
  const { store, queue, clock } = await bench();
  const bad = { prioritty: 1 } as object;
  const error = await rejects(queue.enqueue(1, bad), 'INVALID_ARGUMENT');
  assert.match(error.message, /"prioritty"/);
  await rejects(queue.claim('w', bad), 'INVALID_ARGUMENT');
  await rejects(queue.list(bad), 'INVALID_ARGUMENT');
  await rejects(store.kv.list(bad), 'INVALID_ARGUMENT');
  await rejects(queue.enqueue(1, { backoff: { baze: 1 } as object }), 'INVALID_ARGUMENT');
  await rejects(
    queue.enqueueMany([{ payload: 1, option: {} } as { payload: 1 }]),
    'INVALID_ARGUMENT',
  );
  await rejects(open('x', { journal: memory(), clock, jurnal: 1 } as object), 'INVALID_ARGUMENT');
  const inherited = Object.create({ priority: 'no number' }) as object;
  await queue.enqueue(1, inherited);
  await rejects(queue.enqueue(1, JSON.parse('{"__proto__":{"priority":1}}')), 'INVALID_ARGUMENT');
  await rejects(queue.enqueue(1, null as unknown as object), 'INVALID_ARGUMENT');
  await rejects(queue.enqueue(1, [] as object), 'INVALID_ARGUMENT');
});

test('numbers where they make no sense are refused by name', async () => {
  const { queue, store } = await bench();
  const options: Record<string, unknown[]> = {
    delay: NO_NUMBERS,
    runAt: [...NO_NUMBERS, -1, new Date(Number.NaN), new Date(-1)],
    priority: [...NO_NUMBERS, 2 ** 53, -(2 ** 53)],
    maxAttempts: [...NO_NUMBERS, 0, -1],
    lease: [...NO_NUMBERS, -1],
    expiresIn: [...NO_NUMBERS, 0, -1],
    deadRetention: [Number.NaN, 1.5, '5', null, -1, -Infinity],
    resultRetention: [Number.NaN, 1.5, '5', null, -1],
    keyRetention: [Number.NaN, 1.5, '5', null, -1],
  };
  for (const [name, values] of Object.entries(options)) {
    for (const value of values) {
      const error = await rejects(queue.enqueue(1, { [name]: value }), 'INVALID_ARGUMENT');
      assert.equal(error.details.argument, name);
    }
  }
  for (const value of [...NO_NUMBERS, -1]) {
    const number = value as number;
    await rejects(queue.enqueue(1, { backoff: { base: number } }), 'INVALID_ARGUMENT');
    await rejects(queue.enqueue(1, { backoff: { max: number } }), 'INVALID_ARGUMENT');
    await rejects(queue.claim('w', { lease: number }), 'INVALID_ARGUMENT');
    await rejects(queue.list({ limit: number }), 'INVALID_ARGUMENT');
    await rejects(queue.get(number), 'INVALID_ARGUMENT');
    await rejects(store.lease('l').acquire('w', { ttl: number }), 'INVALID_ARGUMENT');
    throws(() => check('k', number === null ? -1 : number), 'INVALID_ARGUMENT');
  }
  for (const value of NO_NUMBERS) {
    await rejects(queue.claim('w', { max: value as number }), 'INVALID_ARGUMENT');
  }
  const jitter = 'some' as 'none';
  await rejects(queue.enqueue(1, { backoff: { jitter } }), 'INVALID_ARGUMENT');
  assert.equal((await queue.counts()).ready, 0);
});

test('numbers at every limit are kept', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('low', { priority: -SAFE, maxAttempts: SAFE, keyRetention: Infinity });
  await queue.enqueue('high', { priority: SAFE, lease: SAFE, expiresIn: SAFE });
  const [high, low] = await queue.claim('w', { max: 1_001 });
  assert.deepEqual([high?.payload, high?.deadline, low?.maxAttempts], ['high', SAFE, SAFE]);
  for (const delay of [0, 2 ** 31, 10 * 365 * 86_400_000, SAFE]) {
    const { id } = await queue.enqueue('later', { delay });
    assert.equal((await queue.get(id))?.runAt, Math.min(SAFE, clock.now() + delay));
  }
  assert.equal((await queue.get(SAFE)) ?? null, null);
});

test('what the user changes after the call changes nothing', async () => {
  const { queue } = await bench();
  const payload = { list: [1] };
  const options = { priority: 1, backoff: { base: 1 } };
  const enqueued = queue.enqueue(payload, options);
  payload.list.push(2);
  options.priority = 9;
  await enqueued;
  const [task] = await queue.claim('w');
  assert.deepEqual([task?.payload, task?.priority], [{ list: [1] }, 1]);
});

async function claimNew(queue: Queue) {
  await queue.enqueue('new');
  return claimOne(queue);
}
