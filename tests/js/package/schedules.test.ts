/** Schedules through the package: what fires when, on a clock that stands still. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open, type ScheduledJob, type Store, type When } from 'fencepost';
import { faulty } from '../../../pkg/dist/testing/faulty.js';
import { bench, payloads, rejects } from './support.js';

const JOB: ScheduledJob = { queue: 'mail', payload: 'hello' };
const SECOND = 1_000;

/** Of the tasks of the queue `mail`, in id order. */
async function boundaries(store: Store, from: number): Promise<number[]> {
  const { items } = await store.queue('mail').list({ limit: 1_000 });
  return items.map(({ boundary }) => (boundary ?? Number.NaN) - from);
}

test('the first boundary is one interval on, and fires one task that carries it', async () => {
  const { store, queue, clock } = await bench();
  const start = clock.now();
  const record = await store.schedule('tick', { every: 10 * SECOND }, JOB);
  assert.deepEqual(record, {
    name: 'tick',
    when: { every: 10 * SECOND },
    job: JOB,
    next: start + 10 * SECOND,
    fired: 0,
  });
  await clock.advance(10 * SECOND - 1);
  assert.deepEqual(await boundaries(store, start), []);
  await clock.advance(1);
  const [task] = await queue.claim('w');
  assert.equal(task?.boundary, start + 10 * SECOND);
  assert.equal(task?.payload, 'hello');
  assert.equal((await queue.get(1))?.runAt, start + 10 * SECOND);
  assert.deepEqual(await store.schedules.get('tick'), {
    ...record,
    next: start + 20 * SECOND,
    lastFiredAt: start + 10 * SECOND,
    fired: 1,
  });
  await clock.advance(60 * SECOND);
  assert.deepEqual((await boundaries(store, start)).length, 7);
  await store.close();
});

test('two replicas on one journal fire each boundary once', async () => {
  const { store, clock, journal } = await bench();
  const other = await open('test', { clock, journal });
  const start = clock.now();
  await store.schedule('e', { every: 10 * SECOND }, JOB);
  await other.schedule('c', { cron: '*/10 * * * * *' }, { ...JOB, queue: 'post' });
  await clock.advance(65 * SECOND);
  const expected = [10, 20, 30, 40, 50, 60].map((at) => at * SECOND);
  assert.deepEqual(await boundaries(other, start), expected);
  const { items } = await store.queue('post').list();
  assert.deepEqual(
    items.map(({ boundary }) => (boundary ?? 0) - start),
    expected,
  );
  await store.close();
  await clock.advance(10 * SECOND);
  assert.equal((await boundaries(other, start)).length, 7, 'the one that is left goes on');
  await other.close();
});

test('an idle store with schedules makes no commit before one is due', async () => {
  const { store, clock } = await bench();
  await store.schedule('e', { every: 3_600 * SECOND }, JOB);
  await store.schedule('c', { cron: '@daily' }, JOB);
  const { version } = store;
  await clock.advance(3_599 * SECOND);
  assert.equal(store.version, version);
  assert.ok(clock.timers <= 1, 'one timer for everything');
  await store.close();
  assert.equal(clock.timers, 0);
});

const CATCH_UPS: [ScheduledJob['catchUp'], number, number | undefined][] = [
  [undefined, 64, 1],
  ['all', 64, 1],
  ['last', 1, 300],
  ['none', 0, undefined],
];
const GRIDS: [string, When][] = [
  ['every', { every: SECOND }],
  ['cron', { cron: '* * * * * *' }],
];
for (const [kind, when] of GRIDS) {
  for (const [catchUp, count, first] of CATCH_UPS) {
    const how = catchUp ?? 'the default';
    test(`300 missed boundaries of ${kind}, caught up with ${how}`, async () => {
      const { store, clock, journal } = await bench();
      const start = clock.now();
      await store.schedule('s', when, catchUp === undefined ? JOB : { ...JOB, catchUp });
      await store.close();
      await clock.advance(300.5 * SECOND);
      const again = await open('test', { clock, journal });
      await clock.advance(1);
      const fired = await boundaries(again, start);
      assert.equal(fired.length, count);
      assert.equal(fired[0], first === undefined ? undefined : first * SECOND);
      const record = await again.schedules.get('s');
      assert.equal(record?.next, start + 301 * SECOND);
      assert.equal(record?.fired, count);
      await clock.advance(SECOND);
      assert.equal((await boundaries(again, start)).at(-1), 301 * SECOND);
      await again.close();
    });
  }
}

for (const [kind, when] of GRIDS) {
  test(`what one commit of ${kind} has no room for is fired by the next ones`, async () => {
    const { store, clock, journal } = await bench();
    const start = clock.now();
    await store.schedule('s', when, { queue: 'mail', payload: 'x'.repeat(400_000) });
    await store.close();
    await clock.advance(25 * SECOND);
    const again = await open('test', { clock, journal });
    const { version } = again;
    await clock.advance(1);
    const expected = Array.from({ length: 25 }, (_, nth) => (nth + 1) * SECOND);
    assert.deepEqual(await boundaries(again, start), expected);
    assert.ok(again.version - version >= 2, 'in several commits');
    assert.equal((await again.schedules.get('s'))?.next, start + 26 * SECOND);
    await again.close();
  });
}

test('registering again keeps the boundary, over restarts too, and takes the new job', async () => {
  const { store, clock, journal } = await bench();
  const start = clock.now();
  const every = { every: 10 * SECOND };
  await store.schedule('e', every, JOB);
  await store.schedule('c', { cron: '*/10 * * * * *', timeZone: 'Europe/Berlin' }, JOB);
  await clock.advance(7 * SECOND);
  await store.close();
  const again = await open('test', { clock, journal });
  const job = { queue: 'mail', payload: 'new' };
  assert.equal((await again.schedule('e', every, job)).next, start + 10 * SECOND);
  const cron = { cron: '*/10 * * * * *', timeZone: 'Europe/Berlin' };
  assert.equal((await again.schedule('c', cron, job)).next, start + 10 * SECOND);
  assert.equal((await again.schedule('c', cron, job)).job.payload, 'new');
  await clock.advance(3 * SECOND);
  const { items } = await again.queue('mail').list();
  assert.deepEqual(payloads(items), ['new', 'new']);
  const changed = await again.schedule('e', { every: 5 * SECOND }, job);
  assert.equal(changed.next, start + 15 * SECOND);
  await again.close();
});

test('at fires once: in time, or at once when past, not again when registered again', async () => {
  const { store, queue, clock } = await bench();
  const start = clock.now();
  await store.schedule('past', { at: new Date(start - 5) }, JOB);
  await store.schedule('later', { at: start + SECOND }, JOB);
  await clock.advance(0);
  assert.deepEqual(await boundaries(store, start), [-5]);
  assert.equal((await queue.get(1))?.runAt, start);
  await clock.advance(SECOND);
  assert.deepEqual(await boundaries(store, start), [-5, SECOND]);
  assert.deepEqual((await store.schedules.get('later'))?.next, null);
  assert.equal((await store.schedule('later', { at: start + SECOND }, JOB)).next, null);
  await clock.advance(86_400 * SECOND);
  assert.equal((await boundaries(store, start)).length, 2);
  assert.equal(await store.unschedule('later'), true);
  assert.equal(await store.unschedule('later'), false);
  assert.equal(await store.schedules.get('later'), null);
  await store.close();
});

test('the job stamps its tasks, and its record shows what is not at its default', async () => {
  const { store, queue, clock } = await bench();
  const job: ScheduledJob = {
    queue: 'mail',
    payload: { deep: [1, null] },
    priority: -3,
    expiresIn: 500,
    catchUp: 'last',
    lease: 70,
    maxAttempts: 2,
    backoff: { base: 1, max: 2, jitter: 'none' },
    deadRetention: 10_000,
    resultRetention: Infinity,
    keyRetention: 0,
  };
  const record = await store.schedule('full', { every: SECOND }, job);
  assert.deepEqual(record.job, job);
  assert.deepEqual(await store.schedules.list(), [record]);
  await clock.advance(SECOND);
  const [task] = await queue.claim('w');
  assert.equal(task?.deadline, clock.now() + 70);
  assert.equal(task?.maxAttempts, 2);
  assert.equal(task?.priority, -3);
  assert.equal((await queue.get(1))?.expiresAt, clock.now() + 500);
  const plain = await store.schedule('full', { every: SECOND }, JOB);
  assert.deepEqual(plain.job, JOB);
  await store.close();
});

test('what is no schedule is refused by name', async () => {
  const { store } = await bench();
  const bad: [unknown, string][] = [
    [{ every: 0 }, 'when.every'],
    [{ every: -1 }, 'when.every'],
    [{ every: 1.5 }, 'when.every'],
    [{ every: '5' }, 'when.every'],
    [{ every: null }, 'when.every'],
    [{ every: Infinity }, 'when.every'],
    [{ every: 7_258_118_400_000 }, 'when.every'],
    [{ at: -1 }, 'when.at'],
    [{ at: Number.NaN }, 'when.at'],
    [{ at: new Date(Number.NaN) }, 'when.at'],
    [{ at: 7_258_118_400_001 }, 'when.at'],
    [{ cron: 5 }, 'when.cron'],
    [{ cron: '' }, 'when.cron'],
    [{ cron: 'every day' }, 'when.cron'],
    [{ cron: '61 * * * *' }, 'when.cron'],
    [{ cron: '* * * *' }, 'when.cron'],
    [{ cron: '2030-01-01T00:00:00' }, 'when.cron'],
    [{ cron: '0 0 30 2 *' }, 'when.cron'],
    [{ cron: '0 0 0 1 1 * 2020' }, 'when.cron'],
    [{ cron: `0${' '.repeat(1_030)}0 * * *` }, 'when.cron'],
    [{ cron: '0 0 * * *', timeZone: 'Mars/Olympus' }, 'when.timeZone'],
    [{ cron: '0 0 * * *', timeZone: '' }, 'when.timeZone'],
    [{ cron: '0 0 * * *', timeZone: null }, 'when.timeZone'],
    [{ every: 5, timeZone: 'UTC' }, 'when.timeZone'],
    [{ every: 5, at: 5 }, 'when'],
    [{ every: 5, evry: 5 }, 'when'],
    [{ every: undefined }, 'when'],
    [{}, 'when'],
    [[], 'when'],
    [null, 'when'],
    [undefined, 'when'],
    ['5s', 'when'],
  ];
  for (const [when, argument] of bad) {
    const error = await rejects(store.schedule('s', when as When, JOB), 'INVALID_SCHEDULE');
    assert.equal(error.details.argument, argument, error.message);
    assert.match(error.message, new RegExp(`^${argument}: expected .+, got `));
  }
  assert.deepEqual(await store.schedules.list(), []);
  await store.close();
});

test('names and jobs are checked like those of an enqueue', async () => {
  const { store } = await bench({ maxPayloadBytes: 1_000 });
  const every = { every: SECOND };
  await rejects(store.schedule('', every, JOB), 'INVALID_NAME');
  await rejects(store.schedule('x'.repeat(256), every, JOB), 'INVALID_NAME');
  await rejects(store.schedule('\ud800', every, JOB), 'INVALID_NAME');
  await rejects(store.schedule('__fencepost_x', every, JOB), 'RESERVED_NAME');
  await rejects(store.unschedule(' '), 'INVALID_NAME');
  await rejects(store.schedules.get(7 as never), 'INVALID_ARGUMENT');
  const outbox = { queue: '__fencepost_outbox:x', payload: 1 };
  await rejects(store.schedule('s', every, outbox), 'RESERVED_NAME');
  const large = { queue: 'mail', payload: 'x'.repeat(999) };
  await rejects(store.schedule('s', every, large), 'PAYLOAD_TOO_LARGE');
  for (const change of [
    { payload: undefined },
    { payload: 5n },
    { maxAttempts: 0 },
    { expiresIn: 0 },
    { lease: -1 },
    { catchUp: 'first' },
    { delay: 5 },
    { key: 'k' },
    { queue: undefined },
  ]) {
    await rejects(store.schedule('s', every, { ...JOB, ...change } as never), 'INVALID_ARGUMENT');
  }
  const none = await rejects(store.schedule('s', every, undefined as never), 'INVALID_ARGUMENT');
  assert.equal(none.message, 'job: expected an object, got undefined');
  for (const name of ['__proto__', 'constructor', '007', 'a:b', '\0', '😀']) {
    assert.equal((await store.schedule(name, every, JOB)).name, name);
    assert.equal((await store.schedules.get(name))?.name, name);
  }
  await store.close();
});

for (const fault of ['lose-reply', 'lose-request', 'refuse', 'outrun', 'full'] as const) {
  test(`each boundary fires once when the journal meets the firing with ${fault}`, async () => {
    const journal = faulty(memory());
    const { store, clock } = await bench({ journal });
    const start = clock.now();
    await store.schedule('e', { every: 10 * SECOND }, JOB);
    await store.schedule('c', { cron: '*/10 * * * * *' }, JOB);
    journal.plan('commit', fault);
    await clock.advance(12 * SECOND);
    await clock.advance(33 * SECOND);
    const fired = (await boundaries(store, start)).sort((one, other) => one - other);
    assert.deepEqual(
      fired,
      [10, 10, 20, 20, 30, 30, 40, 40].map((at) => at * SECOND),
    );
    await store.close();
  });
}

for (const death of ['hold-request', 'hold-reply'] as const) {
  test(`a process that dies while it fires (${death}) loses no boundary`, async () => {
    const inner = memory();
    const journal = faulty(inner);
    const { store, clock } = await bench({ journal });
    const start = clock.now();
    await store.schedule('e', { every: 10 * SECOND }, JOB);
    await store.schedule('c', { cron: '*/10 * * * * *' }, JOB);
    // The journal never answers, and nobody hears of this store again.
    journal.plan('commit', death);
    await clock.advance(10 * SECOND);
    assert.equal(journal.held, 1);
    const heir = await open('test', { clock, journal: inner });
    await clock.advance(10 * SECOND);
    const fired = (await boundaries(heir, start)).sort((one, other) => one - other);
    assert.deepEqual(
      fired,
      [10, 10, 20, 20].map((at) => at * SECOND),
    );
    assert.deepEqual((await heir.verify()).problems, []);
    await heir.close();
  });
}

test('a schedule survives a snapshot that another journal starts from', async () => {
  const { store, clock } = await bench();
  const start = clock.now();
  await store.schedule('c', { cron: '*/10 * * * * *' }, JOB);
  await store.schedule('e', { every: 10 * SECOND }, JOB);
  const restore = await store.snapshot();
  await store.close();
  const copy = await open('test', { clock, journal: memory(), restore });
  assert.deepEqual(
    (await copy.schedules.list()).map(({ name }) => name),
    ['c', 'e'],
  );
  await clock.advance(10 * SECOND);
  assert.deepEqual(await boundaries(copy, start), [10 * SECOND, 10 * SECOND]);
  await copy.close();
});

test('repairClock puts every schedule on its grid after the repaired time', async () => {
  const { store, clock } = await bench();
  const start = clock.now();
  await store.schedule('e', { every: 7 * SECOND }, { ...JOB, catchUp: 'last' });
  await store.schedule('c', { cron: '0 0 * * *' }, { ...JOB, catchUp: 'last' });
  clock.setWall(start + 400 * 86_400 * SECOND);
  await store.sync();
  await clock.advance(30 * SECOND);
  assert.equal((await store.schedules.get('c'))?.next, start + 401 * 86_400 * SECOND);
  clock.setWall(start + SECOND);
  await store.repairClock();
  assert.equal((await store.schedules.get('e'))?.next, start + 7 * SECOND);
  assert.equal((await store.schedules.get('c'))?.next, start + 86_400 * SECOND);
  await store.close();
});

test('schedules need the right to manage their queue and show to who may inspect it', async () => {
  const { store, clock } = await bench();
  const manager = store.as({
    actor: 'ann',
    may: [{ queue: 'mail', rights: ['manage', 'inspect'] }],
  });
  const worker = store.as({
    actor: 'bob',
    may: [{ queue: '*', rights: ['enqueue', 'claim', 'settle'] }],
  });
  const every = { every: SECOND };
  await manager.schedule('s', every, JOB);
  await rejects(manager.schedule('t', every, { ...JOB, queue: 'post' }), 'PERMISSION_DENIED');
  const denied = await rejects(worker.schedule('s', every, JOB), 'PERMISSION_DENIED');
  assert.match(denied.message, /"bob" may not manage/);
  await rejects(worker.unschedule('s'), 'PERMISSION_DENIED');
  const viewer = store.as({ actor: 'eve', may: [{ queue: 'mail', rights: ['inspect'] }] });
  await rejects(viewer.unschedule('s'), 'PERMISSION_DENIED');
  await rejects(worker.schedules.get('s'), 'PERMISSION_DENIED');
  assert.deepEqual(await worker.schedules.list(), []);
  assert.equal((await manager.schedules.list()).length, 1);
  await clock.advance(SECOND);
  assert.equal((await store.queue('mail').counts()).ready, 1);
  assert.equal(await manager.unschedule('s'), true);
  await manager.close();
  await rejects(manager.schedules.list(), 'STORE_CLOSED');
  await store.close();
  await rejects(store.schedule('s', every, JOB), 'STORE_CLOSED');
});

test('registering, firing and taking away are events of the schedule', async () => {
  const { store, clock } = await bench();
  const signal = new AbortController();
  const told: string[] = [];
  const reading = (async () => {
    for await (const { type, name, queue, id } of store.events({ signal: signal.signal })) {
      told.push([type, name, queue, id].filter((word) => word !== undefined).join(' '));
    }
  })();
  await clock.settle();
  await store.schedule('s', { every: SECOND }, JOB);
  await clock.advance(SECOND);
  await store.unschedule('s');
  await clock.settle();
  signal.abort();
  await reading;
  assert.deepEqual(told, [
    'scheduled s mail',
    'enqueued mail 1',
    'fired s mail 1',
    'unscheduled s mail',
  ]);
  await store.close();
});
