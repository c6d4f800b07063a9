/** A store whose log turns out to be gone, damaged or too new: everybody who waits is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FencepostError, type Journal, memory, open, type Store } from 'fencepost';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';
import { rejects } from './support.js';
import { Gate, reasonOf } from './working-support.js';

/** Within this time everybody is told, without any hint of the journal. */
const LOOK_MS = 30_000;

/** A journal whose log can be replaced under its store. */
class Replaceable implements Journal {
  inner: Journal = memory();
  commits = 0;

  open(name: string): ReturnType<Journal['open']> {
    return this.inner.open(name);
  }

  commit(...args: Parameters<Journal['commit']>): Promise<void> {
    this.commits += 1;
    return this.inner.commit(...args);
  }

  compact(...args: Parameters<Journal['compact']>): Promise<void> {
    return this.inner.compact(...args);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

interface Waiting {
  store: Store;
  /** What each of those who wait was told. */
  told: Record<string, unknown>;
}

/** A store of which everything that can wait does. */
async function waitForEverything(store: Store): Promise<Waiting> {
  const told: Record<string, unknown> = {};
  const tell = (who: string) => (error: unknown) => {
    told[who] = error instanceof FencepostError ? error.code : error;
  };
  const queue = store.queue('mail', { resultRetention: 60_000 });
  const { id } = await queue.enqueue('waits', { delay: 3_600_000 });
  const other = await store.lease('taken').acquire('somebody', { ttl: 3_600_000 });
  assert.ok(other.ok);
  const lost = other.lease.signal;
  lost.addEventListener('abort', () => tell('signal')(lost.reason));
  const worker = store.queue('idle').work(() => undefined, { onError: tell('worker') });
  assert.equal(worker.running, 0);
  queue.result(id).then(tell('result'), tell('result'));
  const waiting = store.lease('taken').acquire('another', { ttl: 1_000, wait: Infinity });
  waiting.then(tell('acquire'), tell('acquire'));
  const holding = store.lease('held').hold('me', { ttl: 3_600_000 }, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    tell('hold')(signal.reason);
    tell('hold, because of')(signal.reason.cause);
  });
  holding.catch(tell('hold'));
  void readEvents(store).catch(tell('events'));
  return { store, told };
}

async function readEvents(store: Store): Promise<void> {
  for await (const event of store.events()) assert.ok(event.version > 0);
}

const TOLD = {
  signal: 'LEASE_LOST',
  hold: 'LEASE_LOST',
  'hold, because of': 'LOG_REPLACED',
  worker: 'LOG_REPLACED',
  result: 'LOG_REPLACED',
  acquire: 'LOG_REPLACED',
  events: 'LOG_REPLACED',
};

async function requireQuiet(clock: VirtualClock, journal: Replaceable): Promise<void> {
  assert.equal(clock.timers, 0, 'no timer is left');
  const { commits } = journal;
  await clock.advance(10 * LOOK_MS);
  assert.equal(journal.commits, commits, 'nothing asks the journal any more');
}

test('when its log is gone everybody who waits is told within 30 seconds', async () => {
  const [clock, journal] = [virtualClock(), new Replaceable()];
  const { store, told } = await waitForEverything(await open('test', { clock, journal }));
  await clock.settle();
  journal.inner = memory();
  await journal.inner.open('test');
  await clock.advance(LOOK_MS);
  assert.deepEqual(told, TOLD);
  await requireQuiet(clock, journal);
  await store.close();
});

test('when another one founded a log in its place everybody is told as well', async () => {
  const [clock, journal] = [virtualClock(), new Replaceable()];
  const { store, told } = await waitForEverything(await open('test', { clock, journal }));
  await clock.settle();
  journal.inner = memory();
  const other = await open('test', { clock, journal: journal.inner });
  await clock.advance(LOOK_MS);
  assert.deepEqual(told, TOLD);
  await other.close();
  await requireQuiet(clock, journal);
  await store.close();
});

test('whoever asks for something meanwhile finds out for all', async () => {
  const [clock, journal] = [virtualClock(), new Replaceable()];
  const { store, told } = await waitForEverything(await open('test', { clock, journal }));
  await clock.settle();
  journal.inner = memory();
  await journal.inner.open('test');
  await rejects(store.kv.put('a', 1), 'LOG_REPLACED');
  await clock.settle();
  assert.deepEqual(told, TOLD);
  await requireQuiet(clock, journal);
  await store.close();
});

test('a store that has ended answers every call with what ended it', async () => {
  const [clock, journal] = [virtualClock(), new Replaceable()];
  const store = await open('test', { clock, journal });
  journal.inner = memory();
  await journal.inner.open('test');
  await rejects(store.sync(), 'LOG_REPLACED');
  await rejects(store.kv.get('a'), 'LOG_REPLACED');
  const queue = store.queue('mail');
  await rejects(queue.result(1), 'LOG_REPLACED');
  await rejects(queue.work(() => undefined).idle(), 'LOG_REPLACED');
  await rejects(readEvents(store), 'LOG_REPLACED');
  await rejects(
    store.transact(() => 1),
    'LOG_REPLACED',
  );
  assert.equal(clock.timers, 0);
  await store.close();
  await rejects(store.kv.get('a'), 'STORE_CLOSED');
  const again = await open('test', { clock, journal: journal.inner });
  await again.kv.put('a', 1);
  await again.close();
});

test('whoever holds or waits in a restricted store is told when the store is closed', async () => {
  const clock = virtualClock();
  const store = await open('test', { clock, journal: memory() });
  const restricted = store.as({ actor: 'tab', may: [{ lease: '*', rights: ['acquire'] }] });
  const gate = new Gate<AbortSignal>();
  const holding = restricted.lease('held').hold('me', { ttl: 60_000 }, async ({ signal }) => {
    gate.open(signal);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  const signal = await gate.opened;
  await store.close();
  await holding;
  assert.equal(reasonOf(signal), 'LEASE_LOST');
});
