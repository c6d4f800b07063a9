/** Promises 53 to 55 and 57: a journal that fails, and what the store makes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Entry,
  FencepostError,
  type Journal,
  memory,
  type News,
  open,
  type Store,
} from 'fencepost';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';
import { type FaultyJournal, faulty } from '../../../pkg/dist/testing/faulty.js';
import { bench, claimOne, payloads, rejects, throws } from './support.js';

interface Faulted {
  store: Store;
  journal: FaultyJournal;
  inner: Journal;
  clock: VirtualClock;
}

async function faulted(timeout = 10_000): Promise<Faulted> {
  const [inner, clock] = [memory(), virtualClock()];
  const journal = faulty(inner);
  const store = await open('test', { journal, clock, timeout });
  return { store, journal, inner, clock };
}

test('commands of one turn share an entry and have versions of their own', async () => {
  const { store, inner } = await faulted();
  const before = await slotOf(inner);
  const versions = await Promise.all(
    Array.from({ length: 100 }, (_, at) => store.kv.put(`k${at}`, at)),
  );
  assert.equal(await slotOf(inner), before + 1);
  assert.equal(new Set(versions.map(({ version }) => version)).size, 100);
  assert.equal(store.version, versions.at(-1)?.version);
});

test('one refused command takes nothing with it', async () => {
  const { store } = await faulted();
  const [good, bad, last] = await Promise.allSettled([
    store.kv.put('a', 1),
    store.kv.put(' ', 2),
    store.kv.put('b', 3),
  ]);
  assert.deepEqual([good.status, bad.status, last.status], ['fulfilled', 'rejected', 'fulfilled']);
  assert.equal((await store.kv.list()).items.length, 2);
});

test('calls take effect in the order they were made', async () => {
  const { store } = await faulted();
  const [, one, , two, , none] = await Promise.all([
    store.kv.put('k', 1),
    store.kv.get('k'),
    store.kv.put('k', 2),
    store.kv.get('k'),
    store.kv.delete('k'),
    store.kv.get('k'),
  ]);
  assert.deepEqual([one?.value, two?.value, none], [1, 2, null]);
});

test('a group that is too large for one entry becomes several', async () => {
  const { store, inner } = await faulted();
  const before = await slotOf(inner);
  const value = 'x'.repeat(300_000);
  const puts = Array.from({ length: 10 }, (_, at) => store.kv.put(`k${at}`, value));
  const versions = (await Promise.all(puts)).map(({ version }) => version);
  assert.ok((await slotOf(inner)) > before + 1);
  assert.deepEqual(
    versions,
    [...versions].sort((one, other) => one - other),
  );
  assert.equal((await store.kv.list()).items.length, 10);
});

for (const fault of ['full', 'refuse'] as const) {
  test(`a journal that is ${fault} fails what was asked and then works again`, async () => {
    const { store, journal } = await faulted();
    await store.kv.put('before', 1);
    journal.plan('commit', fault);
    const code = fault === 'full' ? 'JOURNAL_FULL' : 'JOURNAL_UNAVAILABLE';
    const failed = [store.kv.put('a', 1), store.kv.put('b', 2)].map((put) => rejects(put, code));
    const errors = await Promise.all(failed);
    assert.ok(errors.every(({ stack }) => stack?.includes('faults.test')));
    assert.deepEqual((await store.kv.list()).items.length, 1);
    await store.kv.put('a', 1);
    assert.ok((await store.verify()).ok);
  });
}

test('a read that fails says so, and the next one works', async () => {
  const { store, journal } = await faulted();
  journal.plan('commit', 'lose-request');
  await rejects(store.kv.get('a'), 'JOURNAL_UNAVAILABLE');
  assert.equal(await store.kv.get('a'), null);
});

test('a lost reply: the command is found again and not applied twice', async () => {
  const { store, journal, clock } = await faulted();
  const queue = store.queue('mail');
  journal.plan('commit', 'lose-reply');
  const { id } = await queue.enqueue('once');
  assert.equal(id, 1);
  assert.equal((await queue.counts()).ready, 1);
  journal.plan('commit', 'lose-reply', 'lose-reply', 'lose-request');
  const put = store.kv.put('a', 1);
  await clock.advance(1_000);
  const { version } = await put;
  assert.equal((await store.kv.get('a'))?.version, version);
});

test('a request that never left is a plain failure', async () => {
  const { store, journal } = await faulted();
  journal.plan('commit', 'lose-request');
  await rejects(store.kv.put('a', 1), 'JOURNAL_UNAVAILABLE');
  assert.equal(await store.kv.get('a'), null);
});

test('an entry that was lost on its way is sent again, the same bytes as before', async () => {
  const { store, inner, lossy } = await losing();
  const before = await slotOf(inner);
  lossy.next = 'lose';
  await store.kv.put('a', 1);
  assert.equal(await slotOf(inner), before + 1);
  assert.deepEqual(lossy.lost, [await lastEntry(inner)]);
  assert.equal((await store.kv.get('a'))?.value, 1);
});

test('an entry that was lost and overtaken by another writer is decided again', async () => {
  const { store, inner, lossy, clock } = await losing();
  const other = await open('test', { journal: inner, clock });
  const queue = store.queue('mail');
  lossy.next = 'lose';
  lossy.beforeThrowing = async () => {
    assert.equal((await other.queue('mail').enqueue('theirs')).id, 1);
  };
  assert.equal((await queue.enqueue('mine')).id, 2);
  assert.deepEqual(payloads((await queue.list()).items), ['theirs', 'mine']);
});

test('an entry that was lost is not acknowledged by the failure that follows', async () => {
  let left = Number.POSITIVE_INFINITY;
  const { store, inner, lossy, clock } = await losing((journal) =>
    faulty(journal, { choose: () => (left-- === 1 ? 'refuse' : null) }),
  );
  const other = await open('test', { journal: inner, clock });
  lossy.next = 'lose';
  lossy.beforeThrowing = async () => {
    await other.kv.put('theirs', 1);
    left = 2; // The next call finds out, the one after it would decide again.
  };
  await rejects(store.kv.put('mine', 1), 'JOURNAL_UNAVAILABLE');
  assert.equal(await store.kv.get('mine'), null);
});

test("a commit that fails leaves nothing that the store's timer trips over", async () => {
  const { store, lossy, clock } = await losing();
  const queue = store.queue('mail');
  await queue.enqueue('expires', { expiresIn: 100 });
  lossy.next = 'full';
  await rejects(store.kv.put('a', 1), 'JOURNAL_FULL');
  await clock.advance(100);
  assert.equal((await queue.counts()).dead, 1);
});

test('an entry that lands late is found, and not sent twice', async () => {
  const { store, inner, lossy } = await losing();
  const before = await slotOf(inner);
  lossy.next = 'land late';
  const { version } = await store.kv.put('a', 1);
  assert.equal(await slotOf(inner), before + 1);
  assert.equal((await store.kv.get('a'))?.version, version);
});

test('with news everything is decided again, on the newest entry', async () => {
  const { store, journal, inner, clock } = await faulted();
  const other = await open('test', { journal: inner, clock });
  await other.queue('mail').enqueue('one');
  journal.plan('commit', 'outrun');
  const [mine, theirs] = await Promise.all([
    store.queue('mail').claim('a'),
    other.queue('mail').claim('b'),
  ]);
  assert.equal(mine.length + theirs.length, 1);
});

test('a command whose outcome stays unknown says so, and is resolved afterwards', async () => {
  const { store, journal, clock } = await faulted(1_000);
  journal.plan('commit', 'lose-reply', ...Array.from({ length: 6 }, () => 'refuse' as const));
  const unknown = rejects(store.kv.put('a', 1), 'OUTCOME_UNKNOWN');
  await clock.advance(900);
  const late = rejects(store.kv.get('a'), 'JOURNAL_UNAVAILABLE');
  await clock.advance(100);
  await unknown;
  await clock.advance(60_000);
  await late;
  assert.equal((await store.kv.get('a'))?.value, 1);
});

test('a journal that hangs is not waited for, and close ends', async () => {
  const { store, journal, clock } = await faulted(1_000);
  journal.plan('commit', 'hold-request');
  const first = rejects(store.kv.put('a', 1), 'JOURNAL_UNAVAILABLE');
  await clock.advance(500);
  const second = rejects(store.kv.get('a'), 'JOURNAL_UNAVAILABLE');
  await clock.advance(1_000);
  await Promise.all([first, second]);
  await store.close();
  journal.release();
  await clock.settle();
});

test('what was told to have failed is not stored when the journal wakes up', async () => {
  const { store, journal, clock } = await faulted(1_000);
  journal.plan('commit', 'hold-request');
  const late = rejects(store.kv.put('a', 1), 'JOURNAL_UNAVAILABLE');
  await clock.advance(1_000);
  await late;
  journal.release();
  assert.equal(await store.kv.get('a'), null);
});

test('a reply that comes too late is resolved before anything else is sent', async () => {
  const { store, journal, clock } = await faulted(1_000);
  journal.plan('commit', 'hold-reply');
  const late = rejects(store.kv.put('a', 1), 'OUTCOME_UNKNOWN');
  await clock.advance(1_000);
  await late;
  const next = store.kv.put('b', 2);
  await clock.settle();
  journal.release();
  await next;
  assert.equal((await store.kv.list()).items.length, 2);
});

test('storage that is cleared or replaced is told, and nothing is written', async () => {
  const clock = virtualClock();
  let inner = memory();
  const journal = swappable(() => inner);
  const store = await open('test', { journal, clock });
  const queue = store.queue('mail');
  await queue.enqueue(1);
  const task = await claimOne(queue);
  inner = memory();
  await inner.open('test');
  const replaced = [store.kv.put('a', 1), task.complete(), queue.counts()];
  await Promise.all(replaced.map((call) => rejects(call, 'LOG_REPLACED')));
  assert.equal(await slotOf(inner), 0);
  clock.setWall(clock.now() + 1);
  const other = await open('test', { journal: inner, clock });
  await other.queue('mail').enqueue(1);
  assert.ok((await claimOne(other.queue('mail'))).token > task.token);
  await rejects(store.kv.put('a', 1), 'LOG_REPLACED');
  assert.equal(await other.kv.get('a'), null);
  await rejects(open('test', { journal: inner, clock, expectLogId: store.logId }), 'LOG_REPLACED');
  await open('test', { journal: inner, clock, expectLogId: other.logId });
  await store.close();
});

test('two stores that open an empty journal at once agree on its log', async () => {
  const journal = memory();
  const stores = await Promise.all([1, 2, 3].map(() => open('test', { journal })));
  assert.equal(new Set(stores.map(({ logId }) => logId)).size, 1);
});

test('each of two stores sees what the other was told before it asked', async () => {
  const { store, queue, journal, clock } = await bench();
  const other = await open('test', { journal, clock });
  const { id } = await queue.enqueue('x');
  assert.equal((await other.queue('mail').get(id))?.payload, 'x');
  const task = await claimOne(other.queue('mail'), 'other');
  assert.deepEqual(await queue.claim('w'), []);
  await task.complete();
  assert.equal(await queue.get(id), null);
  assert.equal(await store.sync(), other.version);
});

test('close waits for what was accepted, is idempotent, and ends everything after it', async () => {
  const { store, journal, inner } = await faulted();
  const queue = store.queue('mail');
  journal.plan('commit', 'hold-reply');
  const accepted = Promise.all([store.kv.put('a', 1), queue.enqueue(1)]);
  const closing = Promise.all([store.close(), store.close()]);
  await rejects(store.kv.put('b', 1), 'STORE_CLOSED');
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  journal.release();
  await accepted;
  await closing;
  await store.close();
  await rejects(queue.enqueue(1), 'STORE_CLOSED');
  await rejects(queue.counts(), 'STORE_CLOSED');
  await rejects(
    store.transact(() => 1),
    'STORE_CLOSED',
  );
  throws(() => store.queue('x'), 'STORE_CLOSED');
  throws(() => store.lease('x'), 'STORE_CLOSED');
  await rejects(store.sync(), 'STORE_CLOSED');
  const again = await open('test', { journal: inner });
  assert.equal((await again.kv.list()).items.length, 1);
});

test('a result that is asked for while the store closes is not waited for', async () => {
  const { store, queue } = await bench();
  const { id } = await queue.enqueue(1, { resultRetention: 1_000 });
  const late = rejects(queue.result(id), 'STORE_CLOSED');
  await store.close();
  await late;
});

test('an error keeps the stack of the line that called', async () => {
  const { store, journal } = await faulted();
  journal.plan('commit', 'full');
  async function theLineThatCalled() {
    await store.kv.put('a', 1);
  }
  const error = await theLineThatCalled().catch((thrown: FencepostError) => thrown);
  assert.match(error?.stack ?? '', /^FencepostError: planned fault[\s\S]*theLineThatCalled/);
});

async function slotOf(journal: Journal): Promise<number> {
  let slot = 0;
  await journal.commit(Number.MAX_SAFE_INTEGER, ({ tip }: News) => {
    slot = tip?.slot ?? 0;
    return null;
  });
  return slot;
}

/** A journal that can become another one. */
function swappable(current: () => Journal): Journal {
  return {
    open: (name) => current().open(name),
    commit: (after, decide) => current().commit(after, decide),
    compact: (slot, snapshot) => current().compact(slot, snapshot),
    close: () => current().close(),
  };
}

async function lastEntry(journal: Journal): Promise<Uint8Array | undefined> {
  let entry: Uint8Array | undefined;
  await journal.commit((await slotOf(journal)) - 1, ({ entries }) => {
    entry = entries.at(-1);
    return null;
  });
  return entry;
}

interface Lossy {
  next: 'store' | 'lose' | 'full' | 'land late';
  /** What was asked to be stored and was not. */
  lost: Uint8Array[];
  beforeThrowing(): Promise<void>;
}

/** A journal that decides, and then loses what was decided on its way. */
async function losing(wrap = (journal: Journal) => journal) {
  const [inner, clock] = [memory(), virtualClock()];
  const lossy: Lossy = { next: 'store', lost: [], beforeThrowing: async () => undefined };
  const commit = async (after: number, decide: (news: News) => Entry | null) => {
    const { next } = lossy;
    lossy.next = 'store';
    if (next === 'store') return inner.commit(after, decide);
    let entry: Entry | null = null;
    await inner.commit(after, (news) => {
      entry = decide(news);
      return null;
    });
    if (entry === null) return;
    const { bytes } = entry as Entry;
    lossy.lost.push(bytes.slice());
    if (next === 'full') {
      throw new FencepostError('JOURNAL_FULL', 'no room', { details: { stored: false } });
    }
    if (next === 'land late') await inner.commit(after, () => entry);
    await lossy.beforeThrowing();
    throw new Error('the connection was lost');
  };
  const journal = wrap({ ...swappable(() => inner), commit });
  return { store: await open('test', { journal, clock }), inner, clock, lossy };
}

test('behind a call that hangs every later one is told in time, and close ends', async () => {
  const { store, journal, clock } = await faulted(1_000);
  journal.plan('commit', 'hold-request');
  const first = rejects(store.kv.put('a', 1), 'JOURNAL_UNAVAILABLE');
  await clock.advance(1_000);
  await first;
  const [second, read] = [store.kv.put('b', 1), store.kv.get('a')];
  const told = Promise.all([
    rejects(second, 'JOURNAL_UNAVAILABLE'),
    read.catch(({ code }) => code),
  ]);
  const closed = store.close();
  await clock.advance(1_000);
  assert.equal((await told)[1], 'JOURNAL_UNAVAILABLE');
  journal.release();
  await closed;
  assert.equal(clock.timers, 0);
});
