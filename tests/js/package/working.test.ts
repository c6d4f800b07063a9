/** Promises 24, 63 and 68: handlers, and what becomes of their tasks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, type FencepostError, NonRetriable, RetryAfter, type Task } from 'fencepost';
import { bench, rejects, throws } from './support.js';
import { Gate, HOUR, reasonOf, tabs } from './working-support.js';

test('the value of a handler completes the task and is its result', async () => {
  const { queue } = await bench();
  const { id } = await queue.enqueue({ n: 2 }, { resultRetention: HOUR });
  const worker = queue.work(async ({ payload }) => (payload as { n: number }).n * 21);
  assert.equal(await queue.result(id), 42);
  await worker.stop();
});

test('what a handler throws decides over the attempt', async () => {
  const { one, clock } = await tabs();
  const { queue } = one;
  const thrown: Record<string, unknown> = {
    plain: new Error('no luck'),
    final: new NonRetriable('never'),
    later: new RetryAfter(7_000),
    copy: Object.assign(new Error('of another copy'), { name: 'RetryAfter', delay: 8_000 }),
    text: 'a text',
    nothing: undefined,
    big: 1n,
  };
  const ids = new Map<string, number>();
  for (const name of Object.keys(thrown)) ids.set(name, (await queue.enqueue(name)).id);
  const worker = queue.work(({ payload }) => {
    throw thrown[String(payload)];
  });
  await worker.idle();
  const of = async (name: string) => (await queue.get(ids.get(name) ?? 0)) ?? assert.fail(name);
  const now = clock.now();
  assert.deepEqual(
    [(await of('plain')).runAt, (await of('plain')).lastError],
    [now + 1_000, 'no luck'],
  );
  assert.deepEqual([(await of('final')).state, (await of('final')).lastError], ['dead', 'never']);
  assert.equal((await of('later')).runAt, now + 7_000);
  assert.equal((await of('copy')).runAt, now + 8_000);
  assert.equal((await of('text')).lastError, 'a text');
  assert.deepEqual(
    [(await of('nothing')).state, (await of('nothing')).lastError],
    ['scheduled', undefined],
  );
  assert.equal((await of('big')).lastError, '1n');
  await worker.stop();
});

test('an unreadable payload fails the attempt', async () => {
  const { store } = await bench();
  const codec = {
    name: 'picky',
    encode: (value: unknown) => new TextEncoder().encode(String(value)),
    decode: (bytes: Uint8Array) => {
      const text = new TextDecoder().decode(bytes);
      if (text === 'bad') throw new TypeError('cannot read this');
      return text;
    },
  };
  const picky = store.queue('picky', { codec });
  const [bad, good] = [await picky.enqueue('bad'), await picky.enqueue('good')];
  const reader = picky.work((task) => task.payload);
  await reader.idle();
  assert.equal((await picky.get(good.id))?.state, undefined);
  assert.equal((await picky.list({ state: 'scheduled' })).items.length, 1);
  assert.equal((await picky.explain(bad.id))?.because, 'due-later');
  await reader.stop();
});

test('slots are filled by one claim, in the order of the tasks', async () => {
  const { store, queue, clock } = await bench();
  const tasks = Array.from({ length: 7 }, (_, n) => ({ payload: n, options: { priority: n % 2 } }));
  await queue.enqueueMany(tasks);
  const before = store.version;
  const started: unknown[] = [];
  const gates: Gate[] = [];
  const worker = queue.work(
    async ({ payload }) => {
      started.push(payload);
      const gate = new Gate();
      gates.push(gate);
      await gate.opened;
    },
    { concurrency: 3 },
  );
  await clock.settle();
  assert.deepEqual([started, worker.running], [[1, 3, 5], 3]);
  assert.equal(store.version, before + 1);
  gates[1]?.open();
  await clock.settle();
  assert.deepEqual([started, worker.running], [[1, 3, 5, 0], 3]);
  for (let at = 0; at < tasks.length; at += 1) {
    gates[at]?.open();
    await clock.settle();
  }
  assert.deepEqual([started, worker.running], [[1, 3, 5, 0, 2, 4, 6], 0]);
  await worker.stop();
});

test('batch bounds what one commit claims', async () => {
  const { store, queue, clock } = await bench();
  await queue.enqueueMany([1, 2, 3, 4, 5].map((payload) => ({ payload })));
  const before = store.version;
  const worker = queue.work(() => new Gate().opened, { concurrency: 5, batch: 2 });
  await clock.settle();
  assert.deepEqual([worker.running, store.version], [5, before + 3]);
  await worker.stop({ drain: 0 });
});

test('renewed at a third of its lease, a task runs ten times as long', async () => {
  const { store, queue, clock } = await bench();
  const { id } = await queue.enqueue('long', { resultRetention: HOUR });
  const gate = new Gate<string>();
  let deadline = () => 0;
  const worker = queue.work(
    (task) => {
      deadline = () => task.deadline;
      return gate.opened;
    },
    { lease: 3_000 },
  );
  await clock.settle();
  const started = store.version;
  for (let second = 1; second <= 30; second += 1) {
    await clock.advance(1_000);
    assert.ok(deadline() >= clock.now() + 2_000 - 1, `second ${second}`);
    assert.deepEqual(await queue.claim('thief'), []);
  }
  assert.ok(store.version - started >= 29 && store.version - started <= 31);
  gate.open('done');
  assert.equal(await queue.result(id), 'done');
  assert.equal((await queue.get(id))?.attempt, 1);
  await worker.stop();
});

test('claims that are due at about the same time are renewed in one entry', async () => {
  const { store, queue, clock } = await bench();
  const delays = Array.from({ length: 20 }, (_, at) => ({ delay: at < 10 ? 0 : 200 }));
  await queue.enqueueMany(delays.map((options) => ({ payload: 1, options })));
  const worker = queue.work(() => new Gate().opened, { concurrency: 20, lease: 3_000 });
  await clock.advance(200);
  const before = { version: store.version, firings: clock.firings };
  await clock.advance(900);
  assert.equal(store.version, before.version + 20);
  assert.equal(clock.firings, before.firings + 1);
  await worker.stop({ drain: 0 });
});

test('a task cancelled from another tab aborts its handler, and no other one', async () => {
  const { one, other, clock } = await tabs();
  const ids = await one.queue.enqueueMany([1, 2].map((payload) => ({ payload })));
  const signals = new Map<number, AbortSignal>();
  const worker = one.queue.work(
    async ({ id }, { signal }) => {
      signals.set(id, signal);
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    { concurrency: 2 },
  );
  await clock.settle();
  const [first, second] = ids.map(({ id }) => id);
  assert.ok(await other.queue.cancel(first ?? 0, 'not needed'));
  await clock.settle();
  const reason = signals.get(first ?? 0)?.reason as FencepostError;
  assert.deepEqual(
    [reason.code, reason.details],
    ['CANCELLED', { id: first, reason: 'not needed' }],
  );
  assert.match(reason.message, /not needed/);
  assert.equal(reasonOf(signals.get(second ?? 0)), null);
  assert.equal(worker.running, 1);
  assert.equal(await one.queue.get(first ?? 0), null);
  await worker.stop({ drain: 0 });
});

test('after maxRun the attempt has failed and the slot is free', async () => {
  const { one, clock } = await tabs();
  const { queue } = one;
  const { id } = await queue.enqueue('stuck');
  await queue.enqueue('next');
  const seen: [unknown, AbortSignal][] = [];
  const worker = queue.work(
    async ({ payload }, { signal }) => {
      seen.push([payload, signal]);
      if (payload === 'stuck') await new Gate().opened;
    },
    { maxRun: 5_000, lease: 3_000 },
  );
  await clock.advance(4_999);
  assert.equal(seen.length, 1);
  await clock.advance(1);
  assert.deepEqual(
    seen.map(([payload, signal]) => [payload, reasonOf(signal)]),
    [
      ['stuck', 'TIMED_OUT'],
      ['next', null],
    ],
  );
  const row = await queue.get(id);
  assert.deepEqual([row?.state, row?.lastError], ['scheduled', 'timed out after 5000 ms']);
  await worker.stop();
  assert.equal(clock.timers, 1, 'only the retry that is due is waited for');
});

test('a handler may settle its task itself, in any way, and the worker adds nothing', async () => {
  const { store, queue, clock } = await bench();
  const payloads = ['complete', 'fail', 'release', 'transact', 'unawaited', 'complete and throw'];
  const ids: Record<string, number> = {};
  for (const payload of payloads) {
    ids[payload] = (await queue.enqueue(payload, { resultRetention: HOUR })).id;
  }
  const settle = async (task: Task) => {
    switch (task.payload) {
      case 'complete':
        return void (await task.complete('own'));
      case 'fail':
        return void (await task.fail('own', { delay: HOUR }));
      case 'release':
        await queue.pause();
        return void (await task.release());
      case 'transact':
        return void (await store.transact((tx) => tx.complete(task, 'own')));
      case 'unawaited':
        return void task.complete('own');
      default:
        await task.complete('own');
        throw new Error('too late');
    }
  };
  const worker = queue.work(
    async (task) => {
      await settle(task);
      return 'of the worker';
    },
    { concurrency: payloads.length },
  );
  await clock.settle();
  assert.equal(worker.running, 0);
  const of = async (name: string) => queue.get(ids[name] ?? 0);
  for (const name of ['complete', 'transact', 'unawaited', 'complete and throw']) {
    assert.equal((await of(name))?.result, 'own', name);
  }
  assert.equal((await of('fail'))?.lastError, 'own');
  const released = await of('release');
  assert.deepEqual([released?.state, released?.attempt], ['ready', 0]);
  await worker.stop();
});

test('a handler that settled in a transaction may go on for as long as it likes', async () => {
  for (const resultRetention of [0, HOUR]) {
    const { store, queue, clock } = await bench();
    const { id } = await queue.enqueue(1, { resultRetention });
    const gate = new Gate();
    let signal: AbortSignal | undefined;
    const worker = queue.work(
      async (task, context) => {
        signal = context.signal;
        await context.store.transact((tx) => tx.complete(task, 'own'));
        await gate.opened;
      },
      { lease: 3_000 },
    );
    await clock.advance(60_000);
    assert.equal(reasonOf(signal), null);
    const { version } = store;
    await clock.advance(60_000);
    assert.equal(store.version, version, 'nothing is renewed any more');
    gate.open();
    await worker.stop();
    assert.equal((await queue.get(id))?.result, resultRetention === 0 ? undefined : 'own');
    assert.equal(reasonOf(signal), null);
    await store.close();
    assert.equal(clock.timers, 0);
  }
});

test('a settlement of the handler that does not hold fails the attempt', async () => {
  const { store, queue, clock } = await bench();
  await store.kv.put('seen', 1);
  const changed = await queue.enqueue('changed');
  const broken = await queue.enqueue('broken');
  const worker = queue.work(async (task) => {
    if (task.payload === 'changed') await task.complete(1, { writes: [check('seen', null)] });
    else void task.complete(1n);
  });
  await clock.settle();
  assert.match((await queue.get(changed.id))?.lastError ?? '', /refused: changed/);
  assert.match((await queue.get(broken.id))?.lastError ?? '', /^result: /);
  await worker.stop();
});

test('a restricted store works with the rights to claim and to settle', async () => {
  const { store, queue, clock } = await bench();
  const may = (rights: ('claim' | 'settle')[]) =>
    store.as({ actor: 'w', may: [{ queue: 'mail', rights }] });
  const full = may(['claim', 'settle']);
  const { id } = await queue.enqueue(1, { resultRetention: HOUR });
  const stores: unknown[] = [];
  const worker = full.queue('mail').work((_, context) => {
    stores.push(context.store);
    return 'done';
  });
  assert.equal(await queue.result(id), 'done');
  assert.ok(stores[0] === full);
  await full.close();
  await worker.stop();
  await queue.enqueue(2);
  for (const rights of [[], ['claim'], ['settle']] as const) {
    const poor = may([...rights]).queue('mail');
    throws(() => poor.work(() => 'x'), 'PERMISSION_DENIED');
  }
  assert.equal((await queue.counts()).ready, 1, 'nothing was claimed');
  await clock.settle();
  await store.close();
  assert.equal(clock.timers, 0);
});

test('bad handlers and options are refused by name, at once', async () => {
  const { queue } = await bench();
  const work = queue.work.bind(queue) as (handler: unknown, options?: unknown) => unknown;
  const run = () => undefined;
  assert.equal(throws(() => work('run'), 'INVALID_ARGUMENT').details.argument, 'handler');
  const bad = {
    concurrency: [0, -1, 1.5, '1', null],
    lease: [0, -1, Infinity],
    maxRun: [0, Number.NaN],
    batch: [0],
    online: [1],
    signal: [{}],
    onError: ['x'],
    leese: [1],
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const error = throws(() => work(run, { [name]: value }), 'INVALID_ARGUMENT');
      assert.ok(error.message.includes(name), error.message);
    }
  }
  throws(() => work(run, { owner: ' ' }), 'INVALID_NAME');
  throws(() => work(run, { owner: 'x'.repeat(256) }), 'INVALID_NAME');
  const worker = queue.work(run);
  await rejects(worker.stop({ drain: -1 }), 'INVALID_ARGUMENT');
  await worker.stop();
});
