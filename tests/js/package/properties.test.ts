/**
 * What holds for all values of a kind, on values that nobody thought of. A failure prints the
 * smallest one and its seed; `FENCEPOST_PROPERTY_RUNS` looks longer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FencepostError, memory, open, type Store } from 'fencepost';
import { decodeJson, encodeJson } from '../../../pkg/dist/codec.js';
import { Packer } from '../../../pkg/dist/packing.js';
import { claimOne } from './support.js';

const RUNS = Number(process.env.FENCEPOST_PROPERTY_RUNS ?? 300);
const decoder = new TextDecoder();

function holds<T>(
  promise: string,
  values: fc.Arbitrary<T>,
  property: (value: T) => void | Promise<void>,
): void {
  test(promise, () =>
    fc.assert(
      fc.asyncProperty(values, async (v) => property(v)),
      options(),
    ),
  );
}

function options() {
  return { numRuns: RUNS, seed: Number(process.env.FENCEPOST_PROPERTY_SEED ?? Date.now() | 0) };
}

/** Every unit is as likely as any other, halves of surrogate pairs among them. */
const latin = fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code));
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: latin }));
const wildText = fc
  .array(fc.integer({ min: 0, max: 0xffff }))
  .map((units) => String.fromCharCode(...units));
const names = fc.oneof(
  anyText,
  wildText,
  fc.constantFrom('__proto__', 'constructor', 'toString', '__fencepost_x', ' ', '*', 'a*', '', ':'),
  fc.string({ minLength: 80, maxLength: 300, unit: 'binary' }),
);

const jsonValues = fc
  .jsonValue({ stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

holds('what JSON holds comes back as it was', jsonValues, (value) => {
  const bytes = encodeJson(value, 'payload');
  assert.deepStrictEqual(decodeJson(bytes), value);
  assert.equal(decoder.decode(bytes), JSON.stringify(value), 'and is written as JSON writes it');
});

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
});

holds('any value at all comes back equal, or is refused with a path to it', anything, (value) => {
  let bytes: Uint8Array;
  try {
    bytes = encodeJson(value, 'payload');
  } catch (error) {
    assert.ok(error instanceof FencepostError, String(error));
    assert.equal(error.code, 'INVALID_ARGUMENT');
    assert.match(error.message, /^payload.*: expected a value that JSON can hold, got /s);
    return;
  }
  assert.deepEqual(plain(decodeJson(bytes)), plain(value));
});

/** As JSON may see it: without undefined properties, minus zeros and prototypes. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return kept.map(([name, item]) => [name, plain(item)]);
}

let store: Store;
test.before(async () => {
  store = await open('properties', { journal: memory() });
});
test.after(() => store.close());

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function isNameError(error: unknown): boolean {
  if (!(error instanceof FencepostError)) return false;
  return error.code === 'INVALID_NAME' || error.code === 'RESERVED_NAME';
}

/** What the rules say of a name that is shared. */
function isAllowed(name: string): boolean {
  const bytes = new TextEncoder().encode(name).length;
  const isKept = name.startsWith('__fencepost_');
  return isWellFormed(name) && !/^\p{White_Space}*$/u.test(name) && bytes <= 255 && !isKept;
}

holds('a name is taken as it is, or refused by the rules', names, async (name) => {
  const queue = () => store.queue(name);
  if (!isAllowed(name)) {
    await assert.rejects(
      async () => queue().enqueue(1),
      (error) => isNameError(error),
    );
    return;
  }
  const { id } = await queue().enqueue(name);
  const task = await claimOne(queue());
  assert.deepEqual([task.id, task.queue, task.payload], [id, name, name]);
  assert.ok((await task.complete()).ok);
});

holds(
  'a value goes to the key that was named, and to no other',
  fc.uniqueArray(names.filter(isAllowed), { minLength: 1, maxLength: 8 }),
  async (keys) => {
    const own = await open('keys', { journal: memory() });
    await own.transact((tx) => {
      for (const key of keys) tx.kv.put(key, key);
    });
    for (const key of keys) assert.equal((await own.kv.get(key))?.value, key);
    const { items } = await own.kv.list({ limit: 100 });
    const inByteOrder = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(
      items.map(({ key }) => key),
      inByteOrder,
    );
    await own.close();
  },
);

const grants = fc.record({
  prefix: names.filter((name) => isAllowed(name) && !name.includes('*') && name.length < 60),
  suffix: anyText.filter((text) => isWellFormed(text) && text.length < 20),
  isPrefix: fc.boolean(),
});

holds('a grant opens its name, or what begins with it', grants, async (grant) => {
  const { prefix, suffix, isPrefix } = grant;
  const pattern = isPrefix ? `${prefix}*` : prefix;
  const caller = store.as({ actor: 'a', may: [{ kv: pattern, rights: ['write'] }] });
  const name = prefix + suffix;
  const isGranted = isPrefix || suffix === '';
  const put = caller.kv.put(name, 1);
  if (isGranted) await put;
  else await assert.rejects(put, { code: 'PERMISSION_DENIED' });
  await caller.close();
});

const fields = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('number' as const), value: fc.double() }),
    fc.record({ kind: fc.constant('byte' as const), value: fc.integer({ min: 0, max: 255 }) }),
    fc.record({
      kind: fc.constant('text' as const),
      value: fc.option(anyText, { nil: undefined }),
    }),
    fc.record({
      kind: fc.constant('blob' as const),
      value: fc.option(fc.uint8Array({ maxLength: 90_000 }), { nil: undefined }),
    }),
  ),
);

holds('a request is packed as it is read on the other side', fields, (list) => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  // Each time elsewhere, behind what was there: what was packed so far has to come along.
  const scratchAt = (bytes: number) => {
    const missing = bytes + 8 - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65_536));
    return 8;
  };
  const packer = new Packer({ scratchAt }, memory).begin();
  for (const field of list) {
    if (field.kind === 'number') packer.number(field.value);
    else if (field.kind === 'byte') packer.byte(field.value);
    else if (field.kind === 'text') packer.text(field.value);
    else packer.blob(field.value);
  }
  const bytes = Buffer.from(memory.buffer, 8, packer.size);
  let at = 0;
  for (const { kind, value } of list) {
    if (kind === 'number') {
      assert.ok(Object.is(bytes.readDoubleLE(at), value));
      at += 8;
    } else if (kind === 'byte') {
      assert.equal(bytes.readUInt8(at), value);
      at += 1;
    } else {
      const size = bytes.readUInt32LE(at);
      at += 4;
      if (value === undefined) {
        assert.equal(size, 0xffff_ffff);
        continue;
      }
      const expected = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      assert.equal(size, expected.length);
      assert.ok(bytes.subarray(at, at + size).equals(expected));
      at += size;
    }
  }
  assert.equal(at, bytes.length);
});
