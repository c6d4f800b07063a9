/** `store.events()`: what happens, who is told, and going on after a restart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Entry,
  type Journal,
  memory,
  type News,
  open,
  put,
  type Store,
  type StoreEvent,
} from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { faulty } from '../../../pkg/dist/testing/faulty.js';
import { freshSeed, Random } from '../journal/random.js';
import {
  isOver,
  keysOf,
  putMany,
  type Reader,
  reader,
  rest,
  take,
  typesOf,
  withoutHints,
} from './event-reader.js';
import { bench, claimOne, held, rejects, throws } from './support.js';

/** Entries that a journal keeps behind a snapshot, and one more. */
const BEYOND_KEPT = 65;

/** Replaces everything in the journal by a snapshot. */
async function compact(store: Store, journal: Journal): Promise<void> {
  let slot = 0;
  const snapshot = await store.snapshot();
  await journal.commit(0, ({ tip }) => {
    slot = tip?.slot ?? 0;
    return null;
  });
  await journal.compact(slot, [snapshot]);
}

test('everything from the call on is told, in the order of the log', async () => {
  const { store, queue } = await bench();
  await queue.enqueue('before');
  const events = reader(store);
  await queue.enqueue('a', { key: 'k' });
  const task = await claimOne(queue, 'me');
  held(await task.complete());
  const told = await take(events, 3);
  assert.deepEqual(typesOf(told), ['enqueued', 'claimed', 'completed']);
  assert.deepEqual(
    told.map(({ version }) => version),
    [3, 4, 5],
  );
});

test('each event says what it is about and whose it was, and nothing else', async () => {
  const { store, queue, clock } = await bench();
  const events = reader(store);
  const at = clock.now();
  const next = async () => {
    const [event] = await take(events, 1);
    assert.equal(event?.at, at);
    assert.equal(event?.version, store.version);
    const { at: _, version: __, ...about } = event as StoreEvent;
    return about;
  };
  const { id } = await queue.enqueue('a', { key: 'k', maxAttempts: 2 });
  const about = { queue: 'mail', id, key: 'k' };
  assert.deepEqual(await next(), { type: 'enqueued', ...about });
  let task = await claimOne(queue, 'me');
  let mine = { ...about, owner: 'me', token: task.token };
  assert.deepEqual(await next(), { type: 'claimed', ...mine });
  held(await task.heartbeat({ progress: 1 }));
  assert.deepEqual(await next(), { type: 'heartbeat', ...mine });
  held(await task.release());
  assert.deepEqual(await next(), { type: 'released', ...mine });
  task = await claimOne(queue, 'me');
  mine = { ...mine, token: task.token };
  assert.deepEqual(await next(), { type: 'claimed', ...mine });
  held(await task.fail('oops', { delay: 0 }));
  assert.deepEqual(await next(), { type: 'retried', ...mine });
  task = await claimOne(queue, 'me');
  mine = { ...mine, token: task.token };
  await next();
  held(await task.fail('oops'));
  assert.deepEqual(await next(), { type: 'dead', ...mine, reason: 'exhausted' });
  await queue.redrive();
  assert.deepEqual(await next(), { type: 'redriven', ...about });
  task = await claimOne(queue, 'me');
  await next();
  held(await task.fail('no', { final: true }));
  await next();
  await queue.purge();
  assert.deepEqual(await next(), { type: 'purged', ...about });
  const other = await queue.enqueue('b');
  await next();
  await queue.cancel(other.id, 'enough');
  const cancelled = { type: 'cancelled', queue: 'mail', id: other.id, reason: 'enough' };
  assert.deepEqual(await next(), cancelled);
  await queue.pause();
  assert.deepEqual(await next(), { type: 'paused', queue: 'mail' });
  await queue.resume();
  assert.deepEqual(await next(), { type: 'resumed', queue: 'mail' });
  const granted = await store.lease('job').acquire('me', { ttl: 10 });
  assert.ok(granted.ok);
  const lease = { name: 'job', owner: 'me', token: granted.lease.token };
  assert.deepEqual(await next(), { type: 'lease-acquired', ...lease });
  held(await granted.lease.renew());
  assert.deepEqual(await next(), { type: 'lease-renewed', ...lease });
  await granted.lease.release();
  assert.deepEqual(await next(), { type: 'lease-released', ...lease });
  await store.kv.put('seen', 1);
  assert.deepEqual(await next(), { type: 'kv-put', key: 'seen' });
  await store.kv.delete('seen');
  assert.deepEqual(await next(), { type: 'kv-deleted', key: 'seen' });
});

test('outboxes, locks and effects are told by the name that stands behind them', async () => {
  const { store } = await bench();
  const events = reader(store);
  await store.outbox('mail').enqueue('a');
  await store.lock('l').try('me', { ttl: 10 });
  await store.effect('e').begin();
  const [outbox, lock, effect] = await take(events, 3);
  assert.equal(outbox?.queue, '__fencepost_outbox:mail');
  assert.equal(lock?.name, '__fencepost_lock:l');
  assert.equal(effect?.key, '__fencepost_effect:e');
});

test('what one transaction did is told together, under its one version', async () => {
  const { store, queue } = await bench();
  await queue.enqueue('a');
  const task = await claimOne(queue);
  const events = reader(store);
  const done = await store.transact((tx) => {
    tx.complete(task);
    tx.kv.put('done', task.id);
    tx.outbox('mail').enqueue('told');
  });
  assert.ok(done.ok);
  await assert.rejects(
    store.transact((tx) => {
      tx.kv.put('never', 1);
      throw new Error('given up');
    }),
  );
  await store.kv.put('after', 1);
  const told = await take(events, 4);
  assert.deepEqual(typesOf(told), ['completed', 'kv-put', 'enqueued', 'kv-put']);
  const versions = told.map(({ version }) => version);
  assert.deepEqual(versions, [done.version, done.version, done.version, done.version + 1]);
});

test('counts, progress and events of one tab are seen by another', async () => {
  const { store, queue, journal, clock } = await bench();
  const other = await open('test', { journal, clock });
  const events = reader(other);
  const { id } = await queue.enqueue('a');
  const task = await claimOne(queue, 'me');
  held(await task.heartbeat({ progress: { percent: 40 } }));
  assert.deepEqual(typesOf(await take(events, 3)), ['enqueued', 'claimed', 'heartbeat']);
  const mail = other.queue('mail');
  assert.deepEqual((await mail.get(id))?.progress, { percent: 40 });
  assert.equal((await mail.counts()).inflight, 1);
  held(await task.complete());
  assert.deepEqual(typesOf(await take(events, 1)), ['completed']);
  assert.deepEqual((await mail.counts()).inflight, 0);
  await store.close();
});

test('after a restart a reader goes on from the version it remembers', async () => {
  const { store, queue, journal, clock } = await bench();
  const events = reader(store, { from: 0 });
  await queue.enqueue('a');
  const [first] = await take(events, 1);
  await store.kv.put('b', 1);
  await store.close();
  const again = await open('test', { journal, clock });
  await again.kv.put('c', 1);
  const resumed = reader(again, { from: first?.version ?? 0 });
  assert.deepEqual(keysOf(await take(resumed, 2)), ['b', 'c']);
  await again.kv.put('d', 1);
  assert.deepEqual(keysOf(await take(resumed, 1)), ['d']);
});

test('what was compacted away is one gap, and after it nothing is missing', async () => {
  const { store, journal, clock } = await bench();
  await putMany(store, BEYOND_KEPT);
  const { version } = store;
  await compact(store, journal);
  await store.kv.put('after', 1);
  const late = reader(store, { from: 1 });
  assert.deepEqual(await take(late, 2), [
    { version, at: clock.now(), type: 'gap' },
    { version: version + 1, at: clock.now(), type: 'kv-put', key: 'after' },
  ]);
  const knew = reader(store, { from: version });
  assert.deepEqual(keysOf(await take(knew, 1)), ['after']);
  await store.kv.put('live', 1);
  for (const events of [late, knew]) assert.deepEqual(keysOf(await take(events, 1)), ['live']);
});

test('a store that slept through a compaction tells of the gap', async () => {
  const inner = memory();
  const { clock, store } = await bench({ journal: inner });
  const sleeper = await open('test', { journal: withoutHints(inner), clock });
  const events = reader(sleeper);
  await putMany(store, BEYOND_KEPT);
  await compact(store, inner);
  await store.kv.put('after', 1);
  await sleeper.sync();
  const told = await take(events, 2);
  assert.deepEqual(keysOf(told), ['gap', 'after']);
  assert.equal(told[0]?.version, store.version - 1);
});

test('other writers are noticed without a hint, by a look every thirty seconds', async () => {
  const inner = memory();
  const { clock, store } = await bench({ journal: inner });
  const deaf = await open('test', { journal: withoutHints(inner), clock });
  const events = reader(deaf);
  await store.kv.put('a', 1);
  const next = events.next();
  await clock.advance(30_000);
  assert.equal((await next).value?.key, 'a');
});

test('a hint that comes while the store is looking is not lost', async () => {
  const inner = memory();
  const { clock, store } = await bench({ journal: inner });
  const journal = faulty(inner);
  const other = await open('test', { journal, clock });
  const events = reader(other);
  journal.plan('commit', 'hold-reply');
  await store.kv.put('a', 1);
  await clock.settle();
  assert.equal(journal.held, 1);
  await store.kv.put('b', 1);
  await clock.settle();
  journal.release();
  assert.deepEqual(keysOf(await take(events, 2)), ['a', 'b']);
});

test('a reader that is too far behind loses everything to one gap', async () => {
  const { store } = await bench();
  const events = reader(store);
  const many = (count: number) =>
    store.transact((tx) => {
      for (let done = 0; done < count; done += 1) tx.kv.put('k', 1);
    });
  await many(40_000);
  await many(25_536);
  assert.equal((await take(events, 65_536)).length, 65_536);
  await many(40_000);
  await many(25_537);
  const { version } = store;
  await store.kv.put('after', 1);
  const told = await take(events, 2);
  assert.deepEqual(keysOf(told), ['gap', 'after']);
  assert.equal(told[0]?.version, version);
});

test('a long past is read at the pace of its reader, then what came meanwhile', async () => {
  const { store } = await bench();
  const large = 'x'.repeat(60_000);
  for (let done = 0; done < 10; done += 1) await store.kv.put(`past ${done}`, large);
  const events = reader(store, { from: 0 });
  await take(events, 1);
  for (let done = 0; done < 10; done += 1) await store.kv.put(`later ${done}`, large);
  const told = await take(events, 19);
  await store.kv.put('live', 1);
  told.push(...(await take(events, 1)));
  const expected = (name: string) => Array.from({ length: 10 }, (_, done) => `${name} ${done}`);
  assert.deepEqual(keysOf(told), [...expected('past').slice(1), ...expected('later'), 'live']);
});

test('what comes while the past is read is told once, also beside another reader', async () => {
  const inner = memory();
  const { clock, store } = await bench({ journal: inner });
  await store.kv.put('before', 1);
  const journal: Journal = Object.assign(withoutHints(inner), {
    async commit(after: number, decide: (news: News) => Entry | null) {
      // The one who replays begins before the first slot. Its store does not know of this yet.
      if (after === 0) await store.kv.put('between', 1);
      await inner.commit(after, decide);
    },
  });
  const other = await open('test', { journal, clock });
  const [live, past] = [reader(other), reader(other, { from: 1 })];
  assert.deepEqual(keysOf(await take(past, 2)), ['before', 'between']);
  await store.kv.put('after', 1);
  await other.sync();
  assert.deepEqual(keysOf(await take(past, 1)), ['after']);
  assert.deepEqual(keysOf(await take(live, 2)), ['between', 'after']);
});

test('an aborted signal ends the loop at once, whatever is buffered', async () => {
  const { store } = await bench();
  for (const from of [undefined, 0]) {
    const controller = new AbortController();
    const { signal } = controller;
    const events = reader(store, from === undefined ? { signal } : { from, signal });
    await store.kv.put('a', 1);
    await take(events, 1);
    const waiting = from === undefined ? events.next() : undefined;
    await store.kv.put('b', 1);
    controller.abort(new Error('enough'));
    if (waiting !== undefined) assert.equal((await waiting).value?.key, 'b');
    await isOver(events);
  }
  await isOver(reader(store, { signal: AbortSignal.abort() }));
  const controller = new AbortController();
  const waiting = reader(store, { signal: controller.signal }).next();
  controller.abort();
  assert.deepEqual(await waiting, { done: true, value: undefined });
});

test('closing the store ends the loop after what is buffered', async () => {
  const { store, queue } = await bench();
  const events = reader(store);
  const idle = reader(store);
  await queue.enqueue('a');
  await take(idle, 1);
  const waiting = idle.next();
  const replaying = reader(store, { from: 0 });
  await store.close();
  assert.deepEqual(typesOf(await rest(events)), ['enqueued']);
  assert.deepEqual(await waiting, { done: true, value: undefined });
  await isOver(replaying);
  throws(() => store.events(), 'STORE_CLOSED');
});

test('closing the store leaves no timer behind for the past that is being read', async () => {
  const calls = { made: 0, held: Infinity };
  const journal = faulty(memory(), {
    choose: (operation, call) => {
      if (operation === 'commit') calls.made = call;
      return operation === 'commit' && call === calls.held ? 'hold-request' : null;
    },
  });
  const { store, clock } = await bench({ journal });
  await store.kv.put('a', 1);
  // The first call asks where the store is, the second reads.
  calls.held = calls.made + 2;
  const replaying = reader(store, { from: 0 });
  const next = replaying.next();
  await clock.settle();
  assert.equal(journal.held, 1);
  await replaying.return?.();
  await store.close();
  assert.equal(clock.timers, 0);
  assert.deepEqual(await next, { done: true, value: undefined });
});

test('a journal that has to begin again while the past is read tells nothing twice', async () => {
  const calls = { made: 0, outrun: Infinity };
  const journal = faulty(memory(), {
    choose: (operation, call) => {
      if (operation === 'commit') calls.made = call;
      return operation === 'commit' && call === calls.outrun ? 'outrun' : null;
    },
  });
  const { store } = await bench({ journal });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  // More than is handed over at once.
  for (const key of keys) await store.kv.put(key, 'x'.repeat(100_000));
  calls.outrun = calls.made + 2;
  assert.deepEqual(keysOf(await take(reader(store, { from: 0 }), keys.length)), keys);
});

test('nothing is left behind by a loop that is left', async () => {
  const inner = memory();
  const watched = { count: 0 };
  const watch = (onNews: () => void) => {
    watched.count += 1;
    const stop = inner.watch?.(onNews);
    return () => {
      watched.count -= 1;
      stop?.();
    };
  };
  const { store, clock } = await bench({ journal: Object.assign(faulty(inner), { watch }) });
  await store.kv.put('a', 1);
  const { timers } = clock;
  for (const from of [undefined, 0, 2, 99]) {
    const controller = new AbortController();
    const { signal } = controller;
    const events = store.events(from === undefined ? { signal } : { from, signal });
    assert.equal(watched.count, 0);
    await store.kv.put('b', 1);
    for await (const event of events) {
      assert.ok(event.version > 0);
      break;
    }
    assert.equal(watched.count, 0);
    assert.equal(clock.timers, timers);
    await isOver(events[Symbol.asyncIterator]());
    controller.abort();
  }
  const waiting = reader(store);
  const next = waiting.next();
  await waiting.return?.();
  assert.deepEqual(await next, { done: true, value: undefined });
});

test('a version not reached yet is a gap, and it goes on from there', async () => {
  const { store, clock } = await bench();
  const { version } = store;
  const events = reader(store, { from: version + 100 });
  assert.deepEqual(await take(events, 1), [{ version, at: clock.now(), type: 'gap' }]);
  await store.kv.put('a', 1);
  assert.deepEqual(keysOf(await take(events, 1)), ['a']);
  const level = reader(store, { from: store.version });
  const next = level.next();
  await store.kv.put('b', 1);
  assert.equal((await next).value?.key, 'b');
});

test('the newest version of the journal counts, not of what was merged here', async () => {
  const { store, journal, clock } = await bench();
  const behind = await open('test', { journal, clock });
  await store.kv.put('a', 1);
  const { version } = store;
  await store.kv.put('b', 1);
  assert.ok(behind.version < version);
  assert.deepEqual(keysOf(await take(reader(behind, { from: version }), 1)), ['b']);
});

test('a bad start, option or signal is refused at once and by name', async () => {
  const { store } = await bench();
  for (const from of [-1, 1.5, Number.NaN, Infinity, 2 ** 53, '1', null, 1n]) {
    const { message } = throws(() => store.events({ from } as never), 'INVALID_ARGUMENT');
    assert.match(message, /^from: expected a whole number from 0 on, got /);
  }
  throws(() => store.events({ since: 1 } as never), 'INVALID_ARGUMENT');
  throws(() => store.events({ signal: 'now' } as never), 'INVALID_ARGUMENT');
  throws(() => store.events(7 as never), 'INVALID_ARGUMENT');
});

test('callers are told what they may inspect, live and from the journal', async () => {
  const { store, queue } = await bench();
  const limited = store.as({
    actor: 'guest',
    may: [
      { queue: 'mail', rights: ['inspect'] },
      { lease: 'jo*', rights: ['inspect'] },
      { kv: 'a', rights: ['read'] },
    ],
  });
  const live = reader(limited);
  await queue.enqueue('shown', { writes: [put('a', 1), put('ab', 1)] });
  await store.queue('mailbox').enqueue('hidden');
  await store.outbox('mail').enqueue('hidden');
  await store.lease('job').acquire('me', { ttl: 10 });
  await store.lease('other').acquire('me', { ttl: 10 });
  await queue.pause();
  for (const events of [live, reader(limited, { from: 0 })]) {
    const told = await take(events, 4);
    assert.deepEqual(typesOf(told), ['enqueued', 'kv-put', 'lease-acquired', 'paused']);
  }
  const none = store.as({ actor: 'nobody', may: [] });
  const nothing = reader(none, { from: 0 });
  const waiting = nothing.next();
  await store.kv.put('a', 2);
  await none.close();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.deepEqual(keysOf(await take(live, 1)), ['a']);
});

test('a journal that cannot be read ends the loop with its error, once', async () => {
  let isRefused = [false];
  const choose = () => (isRefused.shift() === true ? 'refuse' : null);
  const { store } = await bench({ journal: faulty(memory(), { choose }) });
  await store.kv.put('a', 1);
  for (const calls of [[true], [false, true]]) {
    const events = reader(store, { from: 0 });
    isRefused = calls;
    await rejects(events.next(), 'JOURNAL_UNAVAILABLE');
    await isOver(events);
  }
  assert.deepEqual(keysOf(await take(reader(store, { from: 0 }), 1)), ['a']);
});

test('a journal that is another one, or gives less than it has, is told by name', async () => {
  const [inner, other] = [memory(), memory()];
  let bend: (news: News) => News = (news) => news;
  const journal: Journal = Object.assign(withoutHints(inner), {
    commit: (after: number, decide: (news: News) => Entry | null) =>
      // The one who replays begins before the first slot.
      inner.commit(after, (news) => decide(after === 0 ? bend(news) : news)),
  });
  const { store } = await bench({ journal });
  const { store: foreign } = await bench({ journal: other });
  await putMany(store, 3);
  await putMany(foreign, 3);
  let replaced: News | undefined;
  await other.commit(0, (news) => {
    replaced = news;
    return null;
  });
  for (const [code, bent] of [
    ['LOG_REPLACED', () => replaced as News],
    ['LOG_REPLACED', () => ({ tip: null, entries: [] })],
    ['JOURNAL_CORRUPT', (news: News) => ({ ...news, entries: news.entries.slice(0, -1) })],
    ['JOURNAL_CORRUPT', (news: News) => ({ ...news, entries: news.entries.toReversed() })],
  ] as const) {
    bend = bent;
    await rejects(reader(store, { from: 1 }).next(), code);
  }
  bend = (news) => news;
  assert.deepEqual(keysOf(await take(reader(store, { from: 1 }), 3)), ['k', 'k', 'k']);
});

const RUNS = 10;

/** Every reader, whenever and wherever it begins and however slow it is, is told the one story. */
test('readers with compactions in between miss nothing that no gap tells of', async (context) => {
  const first = freshSeed();
  context.diagnostic(`FENCEPOST_SEED=${first}`);
  for (let seed = first; seed < first + RUNS; seed += 1) await readersAgree(seed);
});

interface Slow {
  from: number;
  events: Reader;
  told: StoreEvent[];
  waiting?: Promise<void> | undefined;
}

async function readersAgree(seed: number): Promise<void> {
  const random = new Random(seed);
  const [journal, clock] = [memory(), virtualClock()];
  const stores = [await open('test', { journal, clock }), await open('test', { journal, clock })];
  const some = () => stores[random.below(2)] as Store;
  const readers: Slow[] = [{ from: 1, events: reader(some()), told: [] }];
  for (let step = 0; step < 40; step += 1) {
    const value = 'x'.repeat(random.below(4) === 0 ? 70_000 : 1);
    if (random.below(3) > 0) await some().kv.put(`key ${step}`, value);
    if (random.below(6) === 0) await putMany(some(), random.below(2 * BEYOND_KEPT));
    if (random.below(8) === 0) await compact(some(), journal);
    if (random.below(6) === 0) {
      const from = random.below(some().version + 1);
      readers.push({ from, events: reader(some(), { from }), told: [] });
    }
    for (const slow of readers) {
      if (random.below(4) === 0) await Promise.race([readOne(slow), clock.settle()]);
    }
  }
  await some().kv.put('end', 1);
  const known = new Map<number, StoreEvent>();
  for (const slow of readers) {
    while (slow.told.at(-1)?.key !== 'end') await readOne(slow);
    requireStory(known, slow, `seed ${seed}, from ${slow.from}`);
  }
  for (const store of stores) await store.close();
}

function readOne(slow: Slow): Promise<void> {
  slow.waiting ??= slow.events.next().then(({ done, value }) => {
    slow.waiting = undefined;
    if (done !== true) slow.told.push(value);
  });
  return slow.waiting;
}

/** What one was told is what others were told; even the first one may have met a gap. */
function requireStory(known: Map<number, StoreEvent>, { from, told }: Slow, when: string): void {
  // The first command founded the log, which is nobody's event.
  let version = Math.max(1, from);
  for (const event of told) {
    if (event.type === 'gap') {
      assert.ok(event.version > version, when);
    } else {
      assert.equal(event.version, version + 1, when);
      assert.deepEqual(event, known.get(event.version) ?? event, when);
      known.set(event.version, event);
    }
    version = event.version;
  }
}
