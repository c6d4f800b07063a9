/** Random faults under several stores on one journal: every promise tells the truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FencepostError, memory, open, type Store } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { type Fault, faulty } from '../../../pkg/dist/testing/faulty.js';
import { freshSeed, Random } from '../journal/random.js';

const SEEDS = Number(process.env.FENCEPOST_FAULT_SEEDS ?? 50);
const STEPS = 30;
const FAULTS: Fault[] = [
  'refuse',
  'full',
  'lose-request',
  'lose-reply',
  'outrun',
  'hold-request',
  'hold-reply',
];

/** What the stores were told: of each key, and of a counter that all of them raise. */
interface Told {
  stored: string[];
  failed: string[];
  unclear: string[];
}

test('what was promised is stored, what failed is not, whatever happens', async (context) => {
  const first = freshSeed();
  context.diagnostic(`FENCEPOST_SEED=${first}`);
  for (let seed = first; seed < first + SEEDS; seed += 1) await run(seed);
});

async function run(seed: number): Promise<void> {
  const random = new Random(seed);
  const [inner, clock] = [memory(), virtualClock()];
  const choose = () => {
    if (random.below(3) > 0) return null;
    return FAULTS[random.below(FAULTS.length)] ?? null;
  };
  let isCalm = true;
  const journals = [0, 1].map(() => faulty(inner, { choose: () => (isCalm ? null : choose()) }));
  const stores = await Promise.all(
    journals.map((journal) => open('test', { journal, clock, timeout: 400 })),
  );
  const told: Told = { stored: [], failed: [], unclear: [] };
  const calls: Promise<void>[] = [];
  isCalm = false;
  for (let step = 0; step < STEPS; step += 1) {
    const store = stores[random.below(stores.length)];
    if (store !== undefined) calls.push(raise(store, `key ${step}`, told));
    if (random.below(2) === 0) await clock.advance(random.below(200));
    if (random.below(2) === 0) for (const journal of journals) journal.release();
  }
  isCalm = true;
  for (let turn = 0; turn < 20; turn += 1) {
    for (const journal of journals) journal.release();
    await clock.advance(1_000);
  }
  await Promise.all(calls);
  await requireTruth(stores, told, `seed ${seed}`);
}

async function raise(store: Store, key: string, told: Told): Promise<void> {
  try {
    const done = await store.transact((tx) => {
      tx.kv.put('count', (tx.kv.get<number>('count')?.value ?? 0) + 1);
      tx.kv.put(key, true);
      tx.queue('mail').enqueue(key, { key });
    });
    assert.ok(done.ok);
    told.stored.push(key);
  } catch (error) {
    if (!(error instanceof FencepostError)) throw error;
    const isUnclear = error.code === 'OUTCOME_UNKNOWN';
    if (!isUnclear) assert.equal(error.details.stored, false, error.message);
    (isUnclear ? told.unclear : told.failed).push(key);
  }
}

async function requireTruth(stores: Store[], told: Told, when: string): Promise<void> {
  const seen = await Promise.all(
    stores.map(async (store) => {
      const { items } = await store.kv.list({ limit: 1_000 });
      const { ready } = await store.queue('mail').counts();
      const report = await store.verify();
      assert.deepEqual(report.problems, [], when);
      return { items, ready };
    }),
  );
  assert.deepEqual(seen[0], seen[1], when);
  const rows = new Map(seen[0]?.items.map(({ key, value }) => [key, value]));
  const count = rows.get('count') ?? 0;
  assert.equal(count, Math.max(0, rows.size - 1), `${when}: each one counted once`);
  assert.equal(count, seen[0]?.ready, `${when}: each one has its task`);
  for (const key of told.stored) assert.ok(rows.has(key), `${when}: ${key} was promised`);
  for (const key of told.failed) assert.ok(!rows.has(key), `${when}: ${key} had failed`);
  for (const store of stores) await store.close();
}
