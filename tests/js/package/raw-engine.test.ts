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
