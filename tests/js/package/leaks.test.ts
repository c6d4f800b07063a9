/** What is held is bounded by what is live: counted, not timed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Task } from 'fencepost';
import { counted } from './counted.js';
import { bench, claimOne } from './support.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Until a count is small enough, or for as many collections as it may take. */
async function collect(isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < 50 && !isDone(); turns += 1) {
    gc();
    await turn();
  }
}

test('restricted stores that nobody has any more are forgotten by the engine', async () => {
  const { store, calls } = await counted();
  const use = async (at: number) => {
    const limited = store.as({ actor: `a${at}`, may: [{ kv: 'k', rights: ['write'] }] });
    await limited.kv.put('k', at);
  };
  for (let at = 0; at < 2_000; at += 1) await use(at);
  const known = () => (calls.get('addCaller') ?? 0) - (calls.get('removeCaller') ?? 0);
  await collect(() => known() < 100);
  assert.ok(known() < 100, `${known()} of 2000 callers are still known`);
  // One that is kept stays what it is.
  const kept = store.as({ actor: 'kept', may: [{ kv: 'k', rights: ['write'] }] });
  await collect(() => false);
  await kept.kv.put('k', 'still');
  assert.equal((await store.kv.get('k'))?.value, 'still');
});

test('events that nobody reads are not recorded, and are told to who reads later', async () => {
  const { store, calls } = await counted();
  const events = store.events();
  const unread = store.events();
  await store.kv.put('a', 1);
  await store.kv.put('b', 2);
  assert.equal(calls.get('recordEvents') ?? 0, 0);
  assert.equal(calls.get('events') ?? 0, 0);
  const keys: unknown[] = [];
  for await (const { key } of events) {
    keys.push(key);
    if (key === 'b') await store.kv.put('c', 3);
    if (key === 'c') break;
  }
  assert.deepEqual(keys, ['a', 'b', 'c']);
  await store.close();
  for await (const _ of unread) assert.fail('nothing is told of a closed store');
});

test('a task that is kept does not keep the payloads of the others of its claim', async () => {
  const { queue } = await bench();
  const kept: Task[] = [];
  for (let claim = 0; claim < 8; claim += 1) {
    for (let at = 0; at < 15; at += 1) await queue.enqueue('x'.repeat(200_000));
    const [first] = await queue.claim('w', { max: 15 });
    assert.ok(first);
    kept.push(first);
    for (const { id } of (await queue.list({ state: 'inflight' })).items) await queue.cancel(id);
  }
  const before = await buffers();
  assert.equal(kept.splice(0).length, 8);
  const held = before - (await buffers());
  assert.ok(held < 8 * 2 * 200_000, `${held} bytes are held for 8 payloads of 200000`);
});

async function buffers(): Promise<number> {
  for (let turns = 0; turns < 5; turns += 1) {
    gc();
    await turn();
  }
  return process.memoryUsage().arrayBuffers;
}

test('one signal is listened to once, however many wait for it', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const { store, clock } = await bench();
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal) as (...args: unknown[]) => void;
  const remove = signal.removeEventListener.bind(signal) as (...args: unknown[]) => void;
  Object.defineProperty(signal, 'addEventListener', {
    value: (...args: unknown[]) => {
      listeners += 1;
      add(...args);
    },
  });
  Object.defineProperty(signal, 'removeEventListener', {
    value: (...args: unknown[]) => {
      listeners -= 1;
      remove(...args);
    },
  });
  const workers = Array.from({ length: 30 }, (_, at) =>
    store.queue(`q ${at}`).work(() => undefined, { signal }),
  );
  await store.lease('l').acquire('other', { ttl: 60_000 });
  const waits = ['a', 'b'].map((owner) =>
    store
      .lease('l')
      .acquire(owner, { ttl: 1, wait: Infinity, signal })
      .catch(() => 'ended'),
  );
  await clock.advance(1);
  assert.equal(listeners, 1);
  controller.abort();
  assert.deepEqual(await Promise.all(waits), ['ended', 'ended']);
  await Promise.all(workers.map((worker) => worker.stop()));
  assert.equal(listeners, 0);
  await turn();
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('a lapsed lease whose signal was read is not asked about at every commit', async () => {
  const { store, clock, calls } = await counted();
  const granted = await store.lease('l').acquire('me', { ttl: 1 });
  assert.ok(granted.ok && !granted.lease.signal.aborted);
  await clock.advance(60_000);
  // The first answer to what was touched is everything.
  await store.kv.put('k', -1);
  const before = calls.get('leaseStatus') ?? 0;
  for (let at = 0; at < 20; at += 1) await store.kv.put('k', at);
  assert.equal(calls.get('leaseStatus') ?? 0, before);
  await store.queue('mail').enqueue(1);
  await claimOne(store.queue('mail'));
});
