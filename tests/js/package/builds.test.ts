/** The two builds of the engine, the small one and the fast one: one engine, and who gets which. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { put } from 'fencepost';
import { Engine, type RawEnqueue } from 'fencepost/engine';
import { throws } from './support.js';

const SMALL = bytesOf('fencepost_bg.wasm');
const FAST = bytesOf('fencepost_fast.wasm');
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START = 1_700_000_000_000;
const ROUNDS = 300;
const LARGE = new Uint8Array(2_001);

function bytesOf(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`../../../pkg/wasm/${name}`, import.meta.url)));
}

/** Keys, delays, priorities and jitters that come around in different rounds. */
function enqueue(engine: Engine, round: number, now: number): unknown {
  const request: RawEnqueue = {
    queue: `queue-${round % 3}`,
    payload: new Uint8Array(round % 400).fill(round),
    priority: round % 5,
    delay: (round % 4) * 70,
    maxAttempts: 1 + (round % 3),
    resultRetention: 5_000,
    backoff: { base: 100 + round, max: 5_000, jitter: round % 7 < 3 ? 'full' : 'equal' },
  };
  return engine.queueEnqueue(round % 2 ? { ...request, key: `key-${round % 40}` } : request, now);
}

/** Claims a few tasks, and completes, fails, cancels or extends each. */
function work(engine: Engine, round: number, now: number): unknown[] {
  const queue = `queue-${(round >> 1) % 3}`;
  const tasks = engine.queueClaim({ queue, owner: `owner-${round % 2}`, max: 3, lease: 200 }, now);
  return tasks.map(({ id, token = 0 }, position) => {
    const claim = { queue, id, token };
    const deeds = [
      () => engine.queueComplete({ ...claim, result: new Uint8Array([round]) }, now),
      () => engine.queueFail({ ...claim, error: `failed in round ${round}` }, now),
      () => engine.queueHeartbeat({ ...claim, extend: 500, progress: new Uint8Array(9) }, now),
      () => engine.queueCancel({ queue, id, reason: `cancelled in round ${round}` }, now),
    ];
    return deeds[(round + position) % deeds.length]?.();
  });
}

/** A lease that is taken, used and lost again. */
function guard(engine: Engine, round: number, now: number): unknown[] {
  const name = `lease-${round % 2}`;
  const held = engine.leaseAcquire({ name, owner: `owner-${round % 3}`, ttl: 100 }, now);
  const token = held.ok ? held.value.token : 0;
  const writes = [put(`value-${round % 10}`, { round })];
  const written = engine.leaseGuardedCommit({ name, token, writes }, now);
  return [held, written, round % 5 === 0 && engine.leaseRelease({ name, token }, now)];
}

interface Run {
  readonly engine: Engine;
  readonly answers: unknown[];
  readonly entries: Uint8Array[];
}

async function run(wasm: Uint8Array<ArrayBuffer>): Promise<Run> {
  const options = { store: 'built', seed: 7n, replica: 3, maxPayloadBytes: LARGE.length - 1 };
  const engine = await Engine.load({ ...options, wasm });
  const [answers, entries]: [unknown[], Uint8Array[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = START + round * 37;
    for (const deed of [enqueue, work, guard]) answers.push(deed(engine, round, now));
    answers.push(engine.queueList({ queue: 'queue-0' }, now));
    const tooLarge = () => engine.queueEnqueue({ queue: 'q', payload: LARGE }, now);
    answers.push(throws(tooLarge, 'PAYLOAD_TOO_LARGE').message);
    const entry = engine.takeEntry();
    if (entry === null) continue;
    engine.merge(entry);
    entries.push(entry);
  }
  return { engine, answers, entries };
}

test('both builds answer the same, write the same bytes and keep the same rows', async () => {
  assert.notDeepEqual(SMALL, FAST, 'there are two builds to compare');
  const [small, fast] = await Promise.all([run(SMALL), run(FAST)]);
  assert.deepEqual(fast.answers, small.answers);
  assert.deepEqual(fast.entries, small.entries);
  assert.deepEqual(fast.engine.snapshot(), small.engine.snapshot());
  assert.deepEqual(fast.engine.verify(), small.engine.verify());
  const { ok, rows } = small.engine.verify();
  assert.ok(ok && rows > 100, `only ${rows} rows`);
});

test('a snapshot and the entries behind it may come from the other build', async () => {
  const [first, second] = await Promise.all([Engine.load({ wasm: SMALL }), run(FAST)]);
  const middle = await Engine.load({ wasm: FAST });
  for (const entry of second.entries.slice(0, ROUNDS / 2)) middle.merge(entry);
  first.restore(middle.snapshot());
  for (const entry of second.entries.slice(ROUNDS / 2)) first.merge(entry);
  assert.deepEqual(first.snapshot(), second.engine.snapshot());
});

test('Node compiles the fast one, whoever brings no other', async ({ mock }) => {
  const compile = mock.method(WebAssembly, 'compile');
  await Engine.load();
  const [bytes, ...others] = compile.mock.calls.map((call) => call.arguments[0]);
  assert.deepEqual(bytes, FAST);
  assert.deepEqual(others, []);
});

test('neither build tells where it was built, nor by whom', () => {
  const absolute = /\/(?:[\w.@+-]+\/)+[\w-]+\.rs/g;
  for (const bytes of [SMALL, FAST]) {
    const text = Buffer.from(bytes).toString('latin1');
    const paths = [...text.matchAll(absolute)].map(([path]) => path);
    assert.ok(
      paths.some((path) => path.startsWith('/cargo/registry/')),
      'a crate names its place',
    );
    for (const place of [homedir(), ROOT, '/root/', '/home/', '/Users/', '/usr/']) {
      assert.ok(!text.includes(place), place);
    }
  }
});
