/** Promises 50 to 52, 56 and 58: what is there after a restart, and how a store opens. */
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Journal, memory, open, type SnapshotParts, type Store } from 'fencepost';
import { file } from 'fencepost/file';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { Child } from '../journal/child.js';
import { contentOf, copyOf, temporaryDirectory } from '../journal/directory.js';
import { bench, claimOne, held, payloads, rejects } from './support.js';

/** Rows of every kind. */
async function fill(store: Store): Promise<void> {
  const queue = store.queue('mail', { resultRetention: 1_000_000 });
  for (let at = 0; at < 5; at += 1) await queue.enqueue({ at }, { key: `k${at}` });
  const [done, failed, beaten] = await queue.claim('w', { max: 3 });
  held((await done?.complete('r')) ?? assert.fail());
  held((await failed?.fail('x', { final: true })) ?? assert.fail());
  held((await beaten?.heartbeat({ progress: 7 })) ?? assert.fail());
  await store.queue('later').enqueue(1, { delay: 1_000_000, priority: 3 });
  await store.queue('later').pause();
  await store.lease('l').acquire('w', { ttl: 1_000_000, meta: { a: 1 } });
  await store.kv.put('k', { v: 1 });
}

/** Everything a user can see. */
async function everything(store: Store): Promise<string> {
  const lists = await Promise.all([
    store.queues(),
    store.queue('mail').list(),
    store.queue('later').list(),
    store.leases.list(),
    store.kv.list(),
    store.verify(),
  ]);
  return JSON.stringify(lists);
}

test('what was acknowledged is there after close and open, in memory and in a file', async () => {
  const path = temporaryDirectory();
  const kept = memory();
  for (const journal of [() => kept, () => file(path)]) {
    const clock = virtualClock();
    const store = await open('test', { journal: journal(), clock });
    await fill(store);
    const [before, { logId, version }] = [await everything(store), store];
    await store.close();
    const again = await open('test', { journal: journal(), clock });
    assert.equal(await everything(again), before);
    assert.deepEqual([again.logId, again.version], [logId, version]);
    await again.close();
  }
});

test('a claim survives a restart with its token, a lapsed one gets a larger one', async () => {
  const [path, clock] = [temporaryDirectory(), virtualClock()];
  const store = await open('test', { journal: file(path), clock });
  await store.queue('mail').enqueue(1);
  const { id, token } = await claimOne(store.queue('mail'), 'w', { lease: 100 });
  await store.close();
  const again = await open('test', { journal: file(path), clock });
  const queue = again.queue('mail');
  const adopted = await queue.adopt(id, token);
  assert.deepEqual([adopted?.token, adopted?.payload, adopted?.owner], [token, 1, 'w']);
  clock.setWall(clock.now() + 101);
  assert.equal(await queue.adopt(id, token), null);
  assert.ok((await claimOne(queue, 'v')).token > token);
  await again.close();
});

test('a log that grew is compacted, and snapshot plus tail is the same as before', async () => {
  const [inner, clock] = [memory(), virtualClock()];
  const compacted: number[] = [];
  const journal: Journal = Object.assign(Object.create(inner) as Journal, {
    open: inner.open.bind(inner),
    commit: inner.commit.bind(inner),
    close: inner.close.bind(inner),
    compact: (slot: number, snapshot: SnapshotParts) => {
      compacted.push(slot);
      return inner.compact(slot, snapshot);
    },
  });
  const store = await open('test', { journal, clock });
  await fill(store);
  const value = 'x'.repeat(100_000);
  for (let at = 0; at < 30; at += 1) await store.kv.put(`big ${at % 3}`, `${at}${value}`);
  assert.ok(compacted.length > 0 && compacted.length < 5, `${compacted}`);
  const other = await open('test', { journal: inner, clock });
  assert.equal(await everything(other), await everything(store));
});

test('of several stores on one log one compacts it', async () => {
  const [inner, clock] = [memory(), virtualClock()];
  let compactions = 0;
  const journal: Journal = {
    open: (name) => inner.open(name),
    commit: (after, decide) => inner.commit(after, decide),
    compact: (slot, snapshot) => {
      compactions += 1;
      return inner.compact(slot, snapshot);
    },
    close: () => inner.close(),
  };
  const stores = await Promise.all([1, 2, 3].map(() => open('test', { journal, clock })));
  const value = 'x'.repeat(300_000);
  for (let turn = 0; turn < 12; turn += 1) {
    for (const store of stores) await store.kv.put('key', value);
  }
  // 36 entries of 0.3 MB, and a snapshot of one: each MiB is compacted once.
  assert.ok(compactions >= 5 && compactions <= 13, `${compactions} compactions`);
  for (const store of stores) assert.equal((await store.kv.get('key'))?.value, value);
});

test('a compaction that fails fails nothing else', async () => {
  const inner = memory();
  let tries = 0;
  const journal: Journal = {
    open: inner.open.bind(inner),
    commit: inner.commit.bind(inner),
    close: inner.close.bind(inner),
    compact: async () => {
      tries += 1;
      throw new Error('no room');
    },
  };
  const store = await open('test', { journal });
  for (let at = 0; at < 40; at += 1) await store.kv.put('big', 'x'.repeat(100_000));
  assert.ok(tries > 0 && tries < 5, `${tries}`);
  await store.close();
});

test('a version that a value had before a backup is not given out again after it', async () => {
  const { store, clock } = await bench();
  const { version } = await store.kv.put('k', 'old');
  await store.kv.delete('k');
  const restore = await store.snapshot();
  const copy = await open('copy', { journal: memory(), clock, restore });
  assert.ok(copy.version > store.version);
  const renewed = await copy.kv.put('k', 'new');
  assert.ok(renewed.version > version);
  const late = await copy.transact((tx) => tx.check('k', version));
  assert.deepEqual([late.ok, !late.ok && late.reason], [false, 'changed']);
});

test('a snapshot starts a new log that goes on from the old one', async () => {
  const { store, clock } = await bench();
  await fill(store);
  const before = await everything(store);
  const restore = await store.snapshot();
  const journal = memory();
  const copy = await open('copy', { journal, clock, restore });
  assert.notEqual(copy.logId, store.logId);
  assert.equal(await everything(copy), before);
  await copy.kv.put('new', 1);
  const again = await open('copy', { journal, clock });
  assert.equal(again.logId, copy.logId);
  assert.equal((await again.kv.get('new'))?.value, 1);
  const old = await store.queue('later').enqueue(1);
  assert.equal((await again.queue('later').enqueue(1)).id, old.id);
  await rejects(open('copy', { journal, clock, restore }), 'INVALID_ARGUMENT');
  const cut = { journal: memory(), clock, restore: restore.slice(0, -3) };
  await rejects(open('copy', cut), 'JOURNAL_CORRUPT');
  await open('copy', { journal: cut.journal, clock });
});

test('a journal holds one store and names it when another one is asked for', async () => {
  const journal = memory();
  await open('one', { journal });
  await rejects(open('two', { journal }), 'INVALID_ARGUMENT');
  const path = temporaryDirectory();
  const store = await open('one', { journal: file(path) });
  const error = await rejects(open('one', { journal: file(path) }), 'JOURNAL_LOCKED');
  assert.match(error.message, new RegExp(`${process.pid}|process`));
  await store.close();
  await rejects(open('two', { journal: file(path) }), 'INVALID_ARGUMENT');
  await (await open('one', { journal: file(path) })).close();
});

test('a damaged file is refused by name and left as it was', async () => {
  const path = temporaryDirectory();
  const store = await open('test', { journal: file(path) });
  for (let at = 0; at < 5; at += 1) await store.kv.put('k', 'x'.repeat(100));
  await store.close();
  const log = join(path, readdirSync(path).find((name) => name.startsWith('journal')) ?? '');
  const bytes = readFileSync(log);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle);
  writeFileSync(log, bytes);
  const before = contentOf(path);
  await rejects(open('test', { journal: file(path) }), 'JOURNAL_CORRUPT');
  assert.deepEqual(contentOf(path), before);
});

test('a torn tail is cut and told, and what was acknowledged before it is there', async () => {
  const path = temporaryDirectory();
  const store = await open('test', { journal: file(path) });
  assert.equal(store.recovered, undefined);
  await store.kv.put('kept', 1);
  await store.kv.put('torn', 2);
  const killed = copyOf(path);
  await store.close();
  const log = join(killed, 'journal');
  truncateSync(log, readFileSync(log).length - 3);
  const again = await open('test', { journal: file(killed) });
  const { bytes = 0, ...told } = again.recovered ?? {};
  assert.deepEqual(told, { path: log, slot: 2, why: 'torn-write' });
  assert.ok(bytes > 3);
  const keys = async ({ kv }: Store) => (await kv.list()).items.map(({ key }) => key);
  assert.deepEqual(await keys(again), ['kept']);
  await again.kv.put('more', 3);
  await again.close();
  const third = await open('test', { journal: file(killed) });
  assert.equal(third.recovered, undefined, 'it is told once');
  assert.deepEqual(await keys(third), ['kept', 'more']);
  await third.close();
});

test('a closed store whose last entry is damaged is refused', async () => {
  const path = temporaryDirectory();
  const store = await open('test', { journal: file(path) });
  await store.kv.put('kept', 1);
  await store.close();
  const log = join(path, 'journal');
  truncateSync(log, readFileSync(log).length - 3);
  await rejects(open('test', { journal: file(path) }), 'JOURNAL_CORRUPT');
});

test('a snapshot of another log does not get its journal cut away', async () => {
  const [path, another] = [temporaryDirectory(), temporaryDirectory()];
  const store = await open('test', { journal: file(path) });
  for (let task = 0; task < 20; task += 1) await store.queue('mail').enqueue(task);
  await store.close();
  const longer = await open('test', { journal: file(another) });
  // Enough to be compacted.
  for (let at = 0; at < 60; at += 1) await longer.kv.put('k', 'x'.repeat(20_000));
  await longer.close();
  copyFileSync(join(another, 'snapshot'), join(path, 'snapshot'));
  const before = contentOf(path);
  await rejects(open('test', { journal: file(path) }), 'JOURNAL_CORRUPT');
  assert.deepEqual(contentOf(path), before);
});

test('options of open are checked by name', async () => {
  const journal = memory();
  const bad: object[] = [
    { journal: {} },
    { journal: 'file' },
    { journal, timeout: 0 },
    { journal, timeout: 2 ** 31 },
    { journal, maxPayloadBytes: 0 },
    { journal, seed: 1 },
    { journal, seed: -1n },
    { journal, durability: 'some' },
    { journal, clock: { now: () => 1 } },
    { journal, restore: [1] },
    { journal, expectLogId: 7 },
    { journal, wasm: new Uint8Array([1, 2, 3, 4]) },
  ];
  for (const options of bad) await rejects(open('x', options), 'INVALID_ARGUMENT');
  await rejects(open('', { journal }), 'INVALID_NAME');
  await rejects(open('__fencepost_x', { journal }), 'RESERVED_NAME');
  await rejects(open(7 as unknown as string, { journal }), 'INVALID_ARGUMENT');
  await rejects(open('x', { journal, expectLogId: 'abc' }), 'LOG_REPLACED');
  await (await open('x', { journal })).close();
});

test('without a journal a store lives in a file below the working directory', async () => {
  const before = process.cwd();
  process.chdir(temporaryDirectory());
  try {
    const store = await open('a/../b');
    await store.kv.put('k', 1);
    await store.close();
    assert.deepEqual(readdirSync('.fencepost'), ['a%2F..%2Fb']);
    const again = await open('a/../b');
    assert.equal((await again.kv.get('k'))?.value, 1);
    assert.equal(await again.persist(), true);
    await again.close();
  } finally {
    process.chdir(before);
  }
});

test('an idle open store does not keep the process alive', async (context) => {
  const child = new Child(context, new URL('child-idle.ts', import.meta.url).href, []);
  assert.equal(await child.line(), 'open');
  assert.equal(await child.finish(), 0);
});

test('a journal that does not open in time is unavailable', async () => {
  const clock = virtualClock();
  const journal: Journal = { ...stuck(), open: () => new Promise(() => undefined) };
  const opening = rejects(open('x', { journal, clock, timeout: 500 }), 'JOURNAL_UNAVAILABLE');
  for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
  await opening;
});

test('equal seeds make equal draws', async () => {
  const draw = async () => {
    const { queue, clock } = await bench({ seed: 7n });
    const due: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      await queue.enqueue(at);
      due.push((held(await (await claimOne(queue)).fail()).runAt ?? 0) - clock.now());
    }
    return due;
  };
  assert.deepEqual(await draw(), await draw());
});

test('a list of queues shows those that have tasks or a pause, in name order', async () => {
  const { store } = await bench();
  await store.queue('b').enqueue(1);
  await store.queue('a').pause();
  await store.outbox('o').enqueue(1);
  store.queue('empty');
  const queues = await store.queues();
  assert.deepEqual(
    queues.map(({ name, paused, counts }) => [name, paused, counts.ready]),
    [
      ['__fencepost_outbox:o', false, 1],
      ['a', true, 0],
      ['b', false, 1],
    ],
  );
  assert.equal(store.outbox('o').name, 'o');
  assert.deepEqual(payloads(await store.outbox('o').claim('w')), [1]);
});

function stuck(): Journal {
  const never = () => new Promise<never>(() => undefined);
  return { open: never, commit: never, compact: never, close: async () => undefined };
}

test('a listener that is cut off anywhere hears the rest again, and misses nothing', async () => {
  const { store, queue } = await bench();
  await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
  await queue.enqueueMany([4, 5].map((payload) => ({ payload })));
  await store.kv.put('last', 1);
  const heard: string[] = [];
  let seen = 0;
  for (let cut = 1; !heard.includes('kv-put'); cut += 1) {
    let left = cut;
    let told = seen;
    for await (const { version, type, id } of store.events({ from: seen })) {
      if (version > told) seen = told;
      told = version;
      heard.push(id === undefined ? type : String(id));
      left -= 1;
      if (left === 0 || type === 'kv-put') break;
    }
  }
  assert.deepEqual(heard, ['1', '1', '2', '1', '2', '3', '1', '2', '3', '4', '4', '5', 'kv-put']);
  await store.close();
});
