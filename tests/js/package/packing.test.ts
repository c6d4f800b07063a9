/** Requests in the engine's memory: how much room they take, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Packer } from '../../../pkg/dist/packing.js';
import { rejects } from './support.js';

const KIB = 1 << 10;
const MIB = 1 << 20;

/** A packer on a scratch region at the start of a memory, and every size the region was given. */
function packing(pages: number) {
  const memory = new WebAssembly.Memory({ initial: pages });
  const sizes: number[] = [];
  const scratchAt = (bytes: number) => {
    sizes.push(bytes);
    return 0;
  };
  return { packer: new Packer({ scratchAt }, memory), memory, sizes };
}

test('the room of a large entry is given back before the next request', () => {
  const { packer, memory, sizes } = packing(128);
  const entry = new Uint8Array(5 * MIB).fill(7);
  assert.equal(packer.begin().rest(entry).size, entry.length);
  assert.deepEqual(new Uint8Array(memory.buffer, 0, entry.length), entry);
  assert.equal(packer.begin().byte(1).size, 1);
  assert.deepEqual(sizes, [64 * KIB, 5 * MIB, 64 * KIB]);
});

test('room that many requests need is kept', () => {
  const { packer, sizes } = packing(128);
  for (let request = 0; request < 3; request++) packer.begin().blob(new Uint8Array(MIB));
  assert.deepEqual(sizes, [64 * KIB, MIB + 4]);
});

test('a request has a limit before it is given room', async () => {
  const { packer, sizes } = packing(1);
  const huge = { length: 65 * MIB } as Uint8Array;
  const packed = new Promise((resolve) => resolve(packer.begin().blob(huge)));
  const { details } = await rejects(packed, 'LIMIT_EXCEEDED');
  assert.equal(details.limit, 64 * MIB);
  assert.deepEqual(sizes, [64 * KIB]);
});
