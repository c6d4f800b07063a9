/** `fencepost/engine`: what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from 'fencepost/engine';
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
