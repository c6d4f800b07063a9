/** `fencepost/engine`: what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { check, del, Engine, put } from 'fencepost/engine';
import { rejects, throws } from './support.js';

const NOW = 1_000;

test('options of load are refused by name, like those of open', async () => {
  for (const options of [
    { stor: 'x' },
    { seed: 5 },
    { seed: -1n },
    { seed: 2n ** 64n },
    { seed: null },
    { replica: -1 },
    { replica: 1n },
    { replica: null },
    { maxPayloadBytes: null },
    { maxPayloadBytes: '1' },
    { store: null },
    null,
    5,
  ]) {
    await rejects(Engine.load(options as never), 'INVALID_ARGUMENT');
  }
});

test('only the very entry that was taken is merged as such', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  const entry = engine.takeEntry();
  for (const nothing of [undefined, undefined, null]) {
    throws(() => engine.merge(nothing as never), 'INVALID_ARGUMENT');
    assert.equal(engine.version, 0);
  }
  assert.ok(entry);
  engine.merge(entry);
  assert.equal(engine.version, 2);
  throws(() => engine.merge(undefined as never), 'INVALID_ARGUMENT');
});

test('an entry whose buffer was given away is still the one that was taken', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  const entry = engine.takeEntry();
  assert.ok(entry);
  structuredClone(entry.buffer, { transfer: [entry.buffer as ArrayBuffer] });
  engine.merge(entry);
  assert.equal(engine.version, 2);
});

function lying(bytes: Uint8Array, length: number): Uint8Array {
  return Object.defineProperty(bytes, 'length', { value: length });
}

test('bytes are as many as they are, whatever they say', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  class Shorter extends Uint8Array {
    override get length(): number {
      return 1;
    }
  }
  const given = [
    lying(new Uint8Array([1, 2, 3]), 1),
    lying(new Uint8Array([1, 2, 3]), 100_000),
    lying(new Uint8Array(200_000), 1),
    new Shorter([1, 2, 3]),
    Buffer.from([1, 2, 3]),
    new Uint8Array([0, 1, 2, 3, 4]).subarray(1, 4),
    new Uint8Array(),
  ];
  for (const payload of given) engine.queueEnqueue({ queue: 'q', payload }, NOW);
  const sizes = engine.queueClaim({ queue: 'q', owner: 'w', max: 9 }, NOW);
  assert.deepEqual(
    sizes.map((task) => task.payload.length),
    [3, 3, 200_000, 3, 3, 3, 0],
  );
  const entry = engine.takeEntry();
  assert.ok(entry);
  engine.merge(lying(entry.slice(), 60));
  assert.deepEqual(engine.verify(), { ok: true, rows: 7, problems: [] });
});

test('bytes whose own properties throw or lie are as they are', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  const thrown = () => {
    throw new Error('asked');
  };
  class Throwing extends Uint8Array {
    override get byteLength(): number {
      return thrown();
    }
    override get length(): number {
      return thrown();
    }
  }
  const own = Object.defineProperty(new Uint8Array([1, 2]), 'byteLength', { get: thrown });
  const foreign = runInNewContext('new Uint8Array([1, 2])') as Uint8Array;
  for (const payload of [new Throwing([1, 2]), own, foreign]) {
    engine.queueEnqueue({ queue: 'q', payload }, NOW);
  }
  const tasks = engine.queueClaim({ queue: 'q', owner: 'w', max: 9 }, NOW);
  assert.deepEqual(
    tasks.map(({ payload }) => [...payload]),
    [
      [1, 2],
      [1, 2],
      [1, 2],
    ],
  );
});

test('what only looks like bytes is refused', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  const bytes = new Uint8Array([1]);
  const givenAway = new Uint8Array([1]);
  structuredClone(givenAway.buffer, { transfer: [givenAway.buffer] });
  for (const payload of [
    new Proxy(bytes, {}),
    Object.create(Uint8Array.prototype),
    Object.create(bytes),
    givenAway,
    new Uint8ClampedArray(1),
    new DataView(bytes.buffer),
    Object.setPrototypeOf(new DataView(bytes.buffer), Uint8Array.prototype),
    Object.setPrototypeOf(new BigUint64Array(1), Uint8Array.prototype),
    bytes.buffer,
    [1],
  ]) {
    throws(() => engine.queueEnqueue({ queue: 'q', payload } as never, NOW), 'INVALID_ARGUMENT');
    throws(() => engine.merge(payload as never), 'INVALID_ARGUMENT');
    throws(() => engine.restore(payload as never), 'INVALID_ARGUMENT');
  }
  assert.equal(engine.takeEntry(), null);
});

test('a freed engine refuses whatever is asked of it, by name', async () => {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  engine.free();
  const calls = [
    () => engine.queueEnqueue({ queue: 'q', payload: new Uint8Array() }, NOW),
    () => engine.queueClaim({ queue: 'q', owner: 'w' }, NOW),
    () => engine.takeEntry(),
    () => engine.merge(new Uint8Array(100_000)),
    () => engine.discard(),
    () => engine.snapshot(),
    () => engine.version,
    () => engine.free(),
  ];
  for (const call of calls) throws(call, 'INVALID_ARGUMENT');
});

/** Engines of which every one decided the same. */
async function decided(): Promise<Engine> {
  const engine = await Engine.load({ seed: 1n, replica: 1 });
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(100).fill(7) }, NOW);
  return engine;
}

function takenOf(engine: Engine): Uint8Array {
  const entry = engine.takeEntry();
  assert.ok(entry);
  return entry;
}

test('an entry is written into the bytes that were given for it, and nowhere else', async () => {
  const own = takenOf(await decided());
  const rooms = [
    new Uint8Array(1_000).fill(9),
    new Uint8Array(1_000).fill(9).subarray(5),
    new Uint8Array(own.length).fill(9),
    Buffer.alloc(1_000, 9),
    new Uint8Array(new SharedArrayBuffer(1_000)).fill(9),
    lying(new Uint8Array(1_000).fill(9), 1),
  ];
  for (const room of rooms) {
    const engine = await decided();
    const entry = engine.takeEntry(room);
    assert.deepEqual(entry, own);
    assert.equal(entry?.buffer, room.buffer);
    assert.equal(entry?.byteOffset, room.byteOffset);
    const whole = new Uint8Array(room.buffer);
    const before = whole.subarray(0, room.byteOffset);
    const behind = whole.subarray(room.byteOffset + own.length);
    assert.ok([...before, ...behind].every((byte) => byte === 9));
    engine.merge(entry ?? own);
    assert.equal(engine.version, 2);
  }
});

test('an entry is written to the bytes that were given, whatever they say', async () => {
  const own = takenOf(await decided());
  class Elsewhere extends Uint8Array {
    override get byteOffset(): number {
      return 0;
    }
    override get buffer(): ArrayBuffer {
      return other;
    }
  }
  const [buffer, other] = [new ArrayBuffer(2_000), new ArrayBuffer(2_000)];
  const short = new Uint8Array(buffer, 1_000, own.length - 1);
  Object.defineProperty(short, 'byteLength', { value: 900 });
  assert.deepEqual((await decided()).takeEntry(short), own);
  assert.deepEqual(new Uint8Array(buffer), new Uint8Array(2_000));
  const elsewhere = new Elsewhere(buffer, 1_000, 900);
  assert.deepEqual((await decided()).takeEntry(elsewhere), own);
  assert.deepEqual(new Uint8Array(other), new Uint8Array(2_000));
  assert.deepEqual(new Uint8Array(buffer, 1_000, own.length), own);
});

test('entries of all lengths, again and again, are written to one room as they are', async () => {
  const [engine, other] = [await decided(), await decided()];
  const into = new Uint8Array(1_000);
  for (let round = 0; round < 400; round += 1) {
    for (const one of [engine, other]) {
      one.queueEnqueue({ queue: 'q', payload: new Uint8Array((round * 7) % 200) }, NOW);
    }
    const entry = engine.takeEntry(into);
    const own = takenOf(other);
    assert.deepEqual(entry, own);
    engine.merge(entry ?? own);
    other.merge(own);
  }
});

test('bytes that have grown since the last entry take the next one', async () => {
  const engine = await decided();
  const room = [10, { maxByteLength: 1_000 }];
  const buffer = Reflect.construct(ArrayBuffer, room) as ArrayBuffer & { resize(to: number): void };
  const into = new Uint8Array(buffer);
  for (const size of [10, 1_000, 10, 1_000]) {
    buffer.resize(size);
    const entry = engine.takeEntry(into);
    assert.ok(entry);
    assert.equal(entry.buffer === buffer, size === 1_000);
    engine.merge(entry);
    engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  }
});

test('the bytes given for one entry take the next one as well, or other bytes do', async () => {
  const engine = await decided();
  const [room, other] = [new Uint8Array(1_000), new Uint8Array(1_000)];
  for (const into of [room, room, other, undefined, room]) {
    const entry = engine.takeEntry(into);
    assert.ok(entry);
    assert.equal(entry.buffer === into?.buffer, into !== undefined);
    engine.merge(entry);
    engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  }
  assert.equal(engine.slot, 5);
});

test('an entry that does not fit into the bytes given for it has bytes of its own', async () => {
  const own = takenOf(await decided());
  const small = new Uint8Array(own.length - 1);
  for (const room of [small, new Uint8Array(), lying(new Uint8Array(1), 100_000)]) {
    const engine = await decided();
    const entry = engine.takeEntry(room);
    assert.deepEqual(entry, own);
    assert.notEqual(entry?.buffer, room.buffer);
    assert.ok(new Uint8Array(room.buffer).every((byte) => byte === 0));
  }
});

test('for what is no bytes, or was given away, no entry is taken', async () => {
  const engine = await decided();
  const room = new Uint8Array(1_000);
  assert.ok(engine.takeEntry(room));
  engine.discard();
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  structuredClone(room.buffer, { transfer: [room.buffer] });
  const views = [new DataView(new ArrayBuffer(9)), new Uint16Array(900), new ArrayBuffer(900)];
  const proxy = new Proxy(new Uint8Array(900), {});
  for (const wrong of [room, null, 5, 'room', [], ...views, proxy]) {
    const error = throws(() => engine.takeEntry(wrong as never), 'INVALID_ARGUMENT');
    assert.equal(error.details.argument, 'into');
    // Nothing was sealed, so it goes on.
    engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, NOW);
  }
  assert.ok(engine.takeEntry());
});

test('values that ride on a command are read again, one by one and in pages', async () => {
  const engine = await Engine.load();
  const writes = [put('a', { n: 1 }), put('b', 2), check('a', null)];
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array([1]), writes }, NOW);
  assert.equal(engine.kvGet({ key: 'a' }, NOW), undefined, 'not merged yet');
  const entry = engine.takeEntry();
  assert.ok(entry !== null);
  engine.merge(entry);
  const found = engine.kvGet({ key: 'a' }, NOW);
  assert.equal(new TextDecoder().decode(found?.value), '{"n":1}');
  assert.equal(found?.version, engine.version);
  const page = engine.kvList({ limit: 1 }, NOW);
  assert.deepEqual([page.items.map(({ key }) => key), page.cursor], [['a'], 'a']);
  const rest = engine.kvList({ cursor: 'a' }, NOW);
  assert.deepEqual([rest.items.map(({ key }) => key), rest.cursor], [['b'], undefined]);
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(), writes: [del('a')] }, NOW);
  engine.merge(engine.takeEntry() ?? new Uint8Array());
  assert.equal(engine.kvGet({ key: 'a' }, NOW), undefined);
  throws(() => engine.kvGet({ key: '' }, NOW), 'INVALID_NAME');
});

test('a claimed task names its queue, and shows all of itself', async () => {
  const engine = await Engine.load();
  engine.queueEnqueue({ queue: 'q', payload: new Uint8Array([7, 8]), key: 'k' }, NOW);
  const [task] = engine.queueClaim({ queue: 'q', owner: 'w' }, NOW);
  assert.ok(task !== undefined);
  assert.equal(task.queue, 'q');
  const shown = JSON.parse(JSON.stringify(task));
  const { queue, state, key, owner, payload, attempt, lapsed } = shown;
  assert.deepEqual(
    [queue, state, key, owner, attempt, lapsed],
    ['q', 'inflight', 'k', 'w', 1, false],
  );
  assert.deepEqual(payload, [7, 8]);
  assert.match(inspect(task), /^RawTask \{.*queue: 'q'.*payload: Uint8Array\(2\) \[ 7, 8 \]/s);
  const { id, token } = task;
  assert.equal(engine.queueComplete({ queue: task.queue, id, token }, NOW).ok, true);
});
