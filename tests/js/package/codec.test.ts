/** Promise 46: values come back exactly, or are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import type { Codec } from 'fencepost';
import { bench, claimOne, held, rejects } from './support.js';

const cycle: Record<string, unknown> = {};
cycle.self = { cycle };
const sparse = Array.from([1, 2, 3]);
delete sparse[1];
class Point {
  x = 1;
}

const REFUSED: [string, unknown, RegExp][] = [
  ['a BigInt', { a: [1, 5n] }, /payload\.a\[1\].*got 5n/],
  ['a function', { 'a b': () => 1 }, /payload\["a b"\].*got a function/],
  ['a symbol', [Symbol('x')], /payload\[0\].*got a symbol/],
  ['a cycle', cycle, /payload\.self\.cycle.*a cycle/],
  ['NaN', [Number.NaN], /payload\[0\].*NaN/],
  ['infinity', { a: -Infinity }, /payload\.a.*-Infinity/],
  ['a hole', sparse, /payload\[1\].*a hole/],
  ['undefined in an array', [undefined], /payload\[0\].*undefined/],
  ['a Map', { m: new Map() }, /payload\.m.*Map/],
  ['a Set', new Set(), /payload:.*Set/],
  ['a Date', [new Date(0)], /payload\[0\].*Date/],
  ['typed arrays', { b: new Uint8Array(2) }, /payload\.b.*Uint8Array/],
  ['an instance of a class', new Point(), /payload:.*Point/],
  ['a boxed string', Object('x'), /payload:.*String/],
  ['a symbol for a name', { [Symbol('x')]: 1 }, /symbols/],
  ['an array with names', Object.assign([1], { more: 1 }), /named properties/],
  ['toJSON', { toJSON: () => 1 }, /payload\.toJSON.*a function/],
  ['undefined', undefined, /payload.*undefined/],
];

for (const [what, payload, message] of REFUSED) {
  test(`JSON refuses ${what} with the path to it`, async () => {
    const { queue } = await bench();
    assert.match((await rejects(queue.enqueue(payload), 'INVALID_ARGUMENT')).message, message);
    assert.equal((await queue.counts()).ready, 0);
  });
}

test('payloads come back exactly', async () => {
  const { queue } = await bench();
  const values = [
    null,
    '',
    'é🦊\u2028\ud800',
    0.1,
    -1e300,
    true,
    [],
    {},
    JSON.parse('{"__proto__":1,"a":{"constructor":[{}]}}'),
    runInNewContext('({ list: [1, { a: 2 }] })'),
    Object.assign(Object.create(null), { a: 1 }),
  ];
  await queue.enqueueMany(values.map((payload) => ({ payload })));
  const tasks = await queue.claim('w', { max: 100 });
  assert.equal(JSON.stringify(tasks.map(({ payload }) => payload)), JSON.stringify(values));
  assert.ok(Object.hasOwn(tasks[8]?.payload as object, '__proto__'));
});

test('undefined properties are left out and minus zero is zero', async () => {
  const { queue } = await bench();
  await queue.enqueue({ a: undefined, b: -0, same: [cycle.none, 1].slice(1) });
  const { payload } = await claimOne(queue);
  assert.deepEqual(payload, { b: 0, same: [1] });
  assert.ok(!Object.hasOwn(payload as object, 'a'));
});

test('one object may stand in two places', async () => {
  const { queue } = await bench();
  const shared = { a: 1 };
  await queue.enqueue([shared, { shared }]);
  assert.deepEqual((await claimOne(queue)).payload, [{ a: 1 }, { shared: { a: 1 } }]);
});

test('127 levels are kept and 128 refused', async () => {
  const { queue } = await bench();
  const nested = (levels: number) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };
  await queue.enqueue(nested(127));
  assert.deepEqual((await claimOne(queue)).payload, nested(127));
  const error = await rejects(queue.enqueue(nested(128)), 'INVALID_ARGUMENT');
  assert.match(error.message, /127 levels/);
});

test('what is too large is refused with its size and the limit', async () => {
  const { queue, store } = await bench({ maxPayloadBytes: 10 });
  await queue.enqueue('12345678');
  const error = await rejects(queue.enqueue('123456789'), 'PAYLOAD_TOO_LARGE');
  assert.deepEqual([error.details.size, error.details.limit], [11, 10]);
  await rejects(store.kv.put('k', '123456789'), 'PAYLOAD_TOO_LARGE');
  const task = await claimOne(queue);
  await rejects(task.complete('123456789'), 'PAYLOAD_TOO_LARGE');
  await rejects(task.heartbeat({ progress: 'x'.repeat(70_000) }), 'PAYLOAD_TOO_LARGE');
  held(await task.complete());
  const meta = 'x'.repeat(70_000);
  await rejects(store.lease('l').acquire('w', { ttl: 1, meta }), 'PAYLOAD_TOO_LARGE');
});

test('an error text is cut at 4 KiB on a character boundary', async () => {
  const { queue } = await bench();
  await queue.enqueue(1);
  held(await (await claimOne(queue)).fail(new Error(`${'é'.repeat(2_047)}🦊`)));
  assert.equal((await queue.get(1))?.lastError, 'é'.repeat(2_047));
});

const reversed: Codec = {
  name: 'reversed',
  encode: (value) => new TextEncoder().encode([...String(value)].reverse().join('')),
  decode: (bytes) => [...new TextDecoder().decode(bytes)].reverse().join(''),
};

test('a codec covers payloads and results, and rows know its name', async () => {
  const { store, queue } = await bench();
  const mine = store.queue('mail', { codec: reversed, resultRetention: 1_000 });
  const { id } = await mine.enqueue('abc');
  const foreign = await queue.get(id);
  assert.throws(() => foreign?.payload, /"reversed".*"json"/);
  const task = await claimOne(mine);
  assert.equal(task.payload, 'abc');
  held(await task.complete('xyz'));
  assert.equal(await mine.result(id), 'xyz');
  await rejects(queue.result(id), 'INVALID_ARGUMENT');
});

test('a follow-up may name a codec, and a task of another codec takes no result', async () => {
  const { store, queue } = await bench();
  await queue.enqueue('start');
  const followUps = [{ queue: 'mail', payload: 'abc', codec: reversed }];
  held(await (await claimOne(queue)).complete(undefined, { followUps }));
  const [task] = await queue.claim('w');
  assert.throws(() => task?.payload, /codec/);
  await rejects(task?.complete('x') ?? Promise.resolve(), 'INVALID_ARGUMENT');
  const adopted = await store
    .queue('mail', { codec: reversed })
    .adopt(task?.id ?? 0, task?.token ?? 0);
  assert.equal(adopted?.payload, 'abc');
});

test('a codec may use the bytes of its answer again', async () => {
  const { store } = await bench();
  for (const bytes of [new Uint8Array(1), Buffer.alloc(1)]) {
    const queue = store.queue(`of ${bytes.constructor.name}`, {
      codec: { encode: (value) => bytes.fill(value as number), decode: ([one]) => one },
    });
    await Promise.all([1, 2].map((value) => queue.enqueue(value)));
    const tasks = await queue.claim('w', { max: 2 });
    assert.deepEqual(
      tasks.map((task) => task.payload),
      [1, 2],
    );
  }
});

test("a codec's own error is thrown where the payload is looked at", async () => {
  const { store } = await bench();
  const broken: Codec = {
    encode: () => new Uint8Array([1]),
    decode: () => {
      throw new RangeError('broken');
    },
  };
  const queue = store.queue('mail', { codec: broken });
  await queue.enqueue(1);
  const task = await claimOne(queue);
  assert.throws(() => task.payload, RangeError);
  const noBytes = { ...broken, encode: () => 'text' as unknown as Uint8Array };
  await rejects(store.queue('mail', { codec: noBytes }).enqueue(1), 'INVALID_ARGUMENT');
});
