/** Queues that are declared once: their stamps, codecs and types wherever no handle says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open, queue } from 'fencepost';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { held, rejects } from './support.js';

interface Mail {
  to: string;
}

const BYTES = {
  name: 'bytes',
  encode: (value: unknown) => new TextEncoder().encode(String(value)),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};

const QUEUES = {
  mail: queue<Mail, number>({ maxAttempts: 7, lease: 1_000, resultRetention: 60_000 }),
  raw: queue<string>({ codec: BYTES, maxAttempts: 9 }),
};

async function declared() {
  const clock = virtualClock();
  const store = await open('test', { clock, journal: memory(), seed: 1n, queues: QUEUES });
  return { store, clock };
}

test('handles, follow-ups, transactions and schedules stamp as was declared', async () => {
  const { store, clock } = await declared();
  const mail = store.queue('mail');
  await mail.enqueue({ to: 'handle' });
  const [task] = await mail.claim('w');
  assert.ok(task);
  assert.deepEqual([task.maxAttempts, task.deadline - clock.now()], [7, 1_000]);
  const followUps = [
    { queue: 'mail' as const, payload: { to: 'follow-up' } },
    { queue: 'raw' as const, payload: 'raw follow-up' },
  ];
  await mail.enqueue({ to: 'b' });
  const [claimed] = await mail.claim('w');
  assert.ok(claimed);
  held(await claimed.complete(1, { followUps }));
  held(
    await store.transact((tx) => {
      tx.queue('mail').enqueue({ to: 'transaction' });
      tx.queue('raw').enqueue('raw transaction');
      tx.queue('mail', { maxAttempts: 2 }).enqueue({ to: 'own stamps' });
    }),
  );
  await store.schedule('s', { at: clock.now() }, { queue: 'mail', payload: { to: 'schedule' } });
  await clock.advance(1);
  const rows = (await mail.list({ state: 'ready' })).items;
  assert.deepEqual(
    rows.map(({ payload, maxAttempts }) => [payload.to, maxAttempts]),
    [
      ['follow-up', 7],
      ['transaction', 7],
      ['own stamps', 2],
      ['schedule', 7],
    ],
  );
  const raw = (await store.queue('raw').list()).items;
  assert.deepEqual(
    raw.map(({ payload, maxAttempts }) => [payload, maxAttempts]),
    [
      ['raw follow-up', 9],
      ['raw transaction', 9],
    ],
  );
});

test("a handle's own options go before what was declared, and the rest stays", async () => {
  const { store } = await declared();
  const own = store.queue('mail', { lease: 5_000 });
  const { id } = await own.enqueue({ to: 'a' });
  assert.equal((await own.get(id))?.maxAttempts, 7);
  const [task] = await own.claim('w');
  assert.ok(task);
  assert.equal(task.deadline - task.enqueuedAt, 5_000);
  const limited = store.as({ actor: 'a', may: [{ queue: '*', rights: ['enqueue'] }] });
  const other = await limited.queue('mail').enqueue({ to: 'b' });
  assert.equal((await own.get(other.id))?.maxAttempts, 7);
  const plain = await store.queue('undeclared').enqueue('c');
  assert.equal((await store.queue('undeclared').get(plain.id))?.maxAttempts, 3);
});

test('a bare claim in a declared queue is completed by its codec', async () => {
  const { store } = await declared();
  const raw = store.queue('raw');
  const { id } = await raw.enqueue('a', { resultRetention: 1_000 });
  const [task] = await raw.claim('w');
  assert.ok(task);
  held(await store.transact((tx) => tx.complete({ id, token: task.token }, 'done')));
  assert.equal(await raw.result(id), 'done');
});

test('a bad declaration is refused by the name of its queue', async () => {
  const clock = virtualClock();
  for (const [queues, words] of [
    [{ mail: queue({ maxAttempts: 0 }) }, /^queues\["mail"\]: maxAttempts: expected/],
    [{ mail: { maxAttempt: 1 } }, /^queues\["mail"\]: .*maxAttempt/],
    [{ mail: 7 }, /^queues\["mail"\]: options: expected an object, got 7/],
    [7, /^queues: expected an object/],
  ] as const) {
    const options = { journal: memory(), clock, queues: queues as never };
    assert.match((await rejects(open('test', options), 'INVALID_ARGUMENT')).message, words);
  }
  const reserved = { journal: memory(), clock, queues: { __fencepost_x: queue() } };
  await rejects(open('test', reserved), 'RESERVED_NAME');
});

/** Compiled, never called. */
export async function wrong(): Promise<void> {
  const { store } = await declared();
  // @ts-expect-error: a payload of another shape
  await store.queue('mail').enqueue({ from: 'ada' });
  const [task] = await store.queue('mail').claim('w');
  const to: string | undefined = task?.payload.to;
  // @ts-expect-error: a result of another type
  await task?.complete(to);
  // @ts-expect-error: a follow-up of another shape
  await task?.complete(1, { followUps: [{ queue: 'mail', payload: 'x' }] });
  // @ts-expect-error: a job of another shape
  await store.schedule('s', { every: 1 }, { queue: 'mail', payload: 'x' });
  // @ts-expect-error: a payload of another shape
  await store.transact((tx) => tx.queue('mail').enqueue({ from: 'ada' }));
  const kept: number | undefined = await store.queue('mail').result(1);
  await store.queue<Mail>('another').enqueue({ to: String(kept) });
}
