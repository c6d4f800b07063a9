/** Promises 48 and 49, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, type Grant, put } from 'fencepost';
import { bench, claimOne, held, payloads, rejects, throws } from './support.js';

async function restricted(...may: Grant[]) {
  const all = await bench();
  return { ...all, limited: all.store.as({ actor: 'guest', may }) };
}

test('what was not granted is denied, and says who may not do what', async () => {
  const { limited, store } = await restricted({ queue: 'mail', rights: ['enqueue'] });
  const mail = limited.queue('mail');
  await mail.enqueue(1);
  const error = await rejects(mail.claim('w'), 'PERMISSION_DENIED');
  assert.deepEqual(error.details, { actor: 'guest', right: 'claim', on: 'mail' });
  const denied = [
    () => mail.cancel(1),
    () => mail.pause(),
    () => mail.sweep(),
    () => mail.purge(),
    () => mail.redrive(),
    () => limited.queue('other').enqueue(1),
    () => limited.outbox('mail').enqueue(1),
    () => limited.lease('l').acquire('w', { ttl: 1 }),
    () => limited.lock('l').try('w', { ttl: 1 }),
    () => limited.effect('e').begin(),
    () => limited.kv.put('k', 1),
    () => limited.kv.delete('k'),
    () => mail.enqueue(1, { writes: [put('k', 1)] }),
    () => mail.enqueue(1, { writes: [check('k', null)] }),
    () => limited.transact((tx) => tx.kv.put('k', 1)),
    () => limited.transact((tx) => tx.queue('other').enqueue(1)),
    () => limited.snapshot(),
    () => limited.verify(),
    () => limited.repairClock(),
  ];
  for (const call of denied) await rejects(call(), 'PERMISSION_DENIED');
  assert.deepEqual((await store.kv.list()).items, []);
});

test('follow-ups and writes of a settled task need their own rights', async () => {
  const { limited, queue } = await restricted({ queue: 'mail', rights: ['claim', 'settle'] });
  await queue.enqueue(1);
  const task = await claimOne(limited.queue('mail'));
  const followUps = [{ queue: 'next', payload: 1 }];
  await rejects(task.complete(1, { followUps }), 'PERMISSION_DENIED');
  await rejects(task.complete(1, { writes: [put('k', 1)] }), 'PERMISSION_DENIED');
  await rejects(
    limited.transact((tx) => tx.require({ ...task, queue: 'x' })),
    'PERMISSION_DENIED',
  );
  held(await task.complete());
});

test('a name is no prefix, and a prefix ends in a star', async () => {
  const { limited, store } = await restricted(
    { queue: 'mail', rights: ['enqueue'] },
    { kv: 'a/*', rights: ['read', 'write'] },
  );
  await rejects(limited.queue('mailbox').enqueue(1), 'PERMISSION_DENIED');
  await rejects(limited.queue('mai').enqueue(1), 'PERMISSION_DENIED');
  await limited.kv.put('a/1', 1);
  await rejects(limited.kv.put('a', 1), 'PERMISSION_DENIED');
  await store.kv.put('b', 1);
  await rejects(limited.kv.get('b'), 'PERMISSION_DENIED');
  assert.deepEqual(
    (await limited.kv.list()).items.map(({ key }) => key),
    ['a/1'],
  );
});

test('a single read without the right is denied, whether or not the thing is there', async () => {
  const { limited, queue, store } = await restricted(
    { queue: 'mail', rights: ['enqueue'] },
    { lease: 'job', rights: ['acquire'] },
  );
  const { id } = await queue.enqueue(1, { key: 'k' });
  const mail = limited.queue('mail');
  for (const asked of [id, 99]) {
    await rejects(mail.get(asked), 'PERMISSION_DENIED');
    await rejects(mail.explain(asked), 'PERMISSION_DENIED');
    await rejects(mail.result(asked), 'PERMISSION_DENIED');
    await rejects(
      limited.transact((tx) => tx.queue('mail').get(asked)),
      'PERMISSION_DENIED',
    );
  }
  await store.schedule('tick', { every: 1_000 }, { queue: 'mail', payload: 1 });
  await store.kv.put('k', 1);
  const denied = [
    () => mail.counts(),
    () => mail.nextDue(),
    () => limited.queue('none').counts(),
    () => limited.queue('none').nextDue(),
    () => limited.kv.get('k'),
    () => limited.kv.get('none'),
    () => limited.transact((tx) => tx.kv.get('k')),
    () => limited.transact((tx) => tx.kv.get('none')),
    () => limited.effect('e').status(),
    () => limited.lease('none').status(),
    () => limited.schedules.get('tick'),
    () => limited.schedules.get('none'),
  ];
  for (const call of denied) await rejects(call(), 'PERMISSION_DENIED');
  assert.deepEqual(await limited.schedules.list(), []);
  assert.deepEqual((await limited.kv.list()).items, []);
  assert.deepEqual(await mail.list(), { items: [] });
  assert.deepEqual(await limited.queues(), []);
  const duplicate = await mail.enqueue(1, { key: 'k' });
  assert.ok(!duplicate.created && !('state' in duplicate));
  await store.lease('job').acquire('root', { ttl: 100 });
  assert.deepEqual(await limited.lease('job').acquire('w', { ttl: 1 }), {
    ok: false,
    reason: 'held',
  });
  await rejects(limited.lease('job').status(), 'PERMISSION_DENIED');
  assert.deepEqual(await limited.leases.list(), { items: [] });
});

test('a counter that may not be read is not counted from nothing in a transaction', async () => {
  const { limited, store } = await restricted({ kv: 'n', rights: ['write'] });
  await store.kv.put('n', 41);
  const adding = limited.transact((tx) => {
    tx.kv.put('n', (tx.kv.get<number>('n')?.value ?? 0) + 1);
  });
  await rejects(adding, 'PERMISSION_DENIED');
  assert.equal((await store.kv.get('n'))?.value, 41);
});

test('a transaction sees what it wrote itself, whatever it may read', async () => {
  const { limited } = await restricted(
    { kv: 'n', rights: ['write'] },
    { queue: 'mail', rights: ['enqueue'] },
  );
  const seen = held(
    await limited.transact((tx) => {
      tx.kv.put('n', 1);
      const { id } = tx.queue('mail').enqueue('p');
      const keys = tx.kv.list().items.map(({ key }) => key);
      return [tx.kv.get('n')?.value, keys, tx.queue('mail').get(id)?.payload];
    }),
  );
  assert.deepEqual(seen, [1, ['n'], 'p']);
  await rejects(
    limited.transact((tx) => tx.kv.get('n')),
    'PERMISSION_DENIED',
  );
});

test('a worker that may claim and not settle is refused before it runs anything', async () => {
  const { limited, queue, store } = await restricted({ queue: 'mail', rights: ['claim'] });
  await queue.enqueue(1);
  let runs = 0;
  const handler = () => {
    runs += 1;
  };
  throws(() => limited.queue('mail').work(handler), 'PERMISSION_DENIED');
  const settles: Grant[] = [{ queue: 'mail', rights: ['settle'] }];
  const settler = store.as({ actor: 's', may: settles });
  throws(() => settler.queue('mail').work(handler), 'PERMISSION_DENIED');
  assert.equal(runs, 0);
  assert.equal((await queue.counts()).ready, 1);
});

test('who manages a queue takes its own schedule away without looking at it', async () => {
  const { limited, store } = await restricted({ queue: 'mail', rights: ['manage'] });
  const job = { queue: 'mail', payload: 1 };
  await limited.schedule('tick', { every: 1_000 }, job);
  await store.schedule('other', { every: 1_000 }, { ...job, queue: 'post' });
  await rejects(limited.unschedule('other'), 'PERMISSION_DENIED');
  await rejects(limited.schedule('other', { every: 1_000 }, job), 'PERMISSION_DENIED');
  assert.equal(await limited.unschedule('tick'), true);
  assert.equal(await limited.unschedule('tick'), false);
});

test('an exact grant of a name that ends in a star opens no other name', async () => {
  const { limited } = await restricted({ queue: { exact: 'u*' }, rights: ['enqueue'] });
  await limited.queue('u*').enqueue(1);
  await rejects(limited.queue('u1').enqueue(1), 'PERMISSION_DENIED');
  await rejects(limited.queue('u').enqueue(1), 'PERMISSION_DENIED');
});

test('a restricted store hands on no more than it has', async () => {
  const { limited, queue } = await restricted({ queue: 'mail', rights: ['enqueue', 'inspect'] });
  const all: Grant[] = [{ queue: '*', rights: ['enqueue', 'claim', 'settle'] }];
  const narrow = limited.as({ actor: 'narrow', may: all });
  await narrow.queue('mail').enqueue(1);
  const error = await rejects(narrow.queue('mail').claim('w'), 'PERMISSION_DENIED');
  assert.equal(error.details.actor, 'narrow');
  await rejects(narrow.queue('mail').counts(), 'PERMISSION_DENIED');
  await rejects(narrow.queue('post').enqueue(1), 'PERMISSION_DENIED');
  await limited.close();
  await narrow.queue('mail').enqueue(2);
  assert.equal((await queue.counts()).ready, 2);
});

test('lists in grants are bounded, and measured before they are walked', async () => {
  const { store } = await bench();
  const endless = (length: number) =>
    new Proxy([], {
      get: (_, name) => (name === 'length' ? length : assert.fail(`${String(name)} was read`)),
    });
  const tooMany = endless(1_001) as never[];
  throws(() => store.as({ actor: 'a', may: tooMany }), 'LIMIT_EXCEEDED');
  const may: Grant[] = [{ queue: 'q', rights: tooMany }];
  throws(() => store.as({ actor: 'a', may }), 'LIMIT_EXCEEDED');
  const grant: Grant = { queue: 'q', rights: ['enqueue'] };
  const many = store.as({ actor: 'a', may: Array.from({ length: 1_000 }, () => grant) });
  await many.queue('q').enqueue(1);
});

test('locks and effects are granted by their plain names, outboxes by their queue', async () => {
  const { limited } = await restricted(
    { lease: 'job', rights: ['acquire'] },
    { kv: 'charge', rights: ['read', 'write'] },
    { queue: '__fencepost_outbox:mail', rights: ['enqueue', 'claim', 'settle'] },
  );
  const lock = await limited.lock('job').try('w', { ttl: 100 });
  assert.equal((await limited.lock('job').try('w', { ttl: 100 }))?.token, lock?.token);
  assert.equal(await lock?.release(), true);
  assert.deepEqual(await limited.effect('charge').begin(), { state: 'fresh' });
  assert.ok((await limited.effect('charge').complete(1)).applied);
  const outbox = limited.outbox('mail');
  await outbox.enqueue('o');
  assert.deepEqual(payloads(await outbox.claim('w')), ['o']);
});

test('a waiter that may not see the lease is granted all the same', async () => {
  const { limited, store, clock } = await restricted({ lease: 'job', rights: ['acquire'] });
  const granted = await store.lease('job').acquire('root', { ttl: 1_000 });
  const waiting = limited.lease('job').acquire('w', { ttl: 10, wait: Infinity });
  await clock.settle();
  if (granted.ok) await granted.lease.release();
  assert.ok((await waiting).ok);
});

test('who may settle a claim or hold a lease may have it back by its token', async () => {
  const { limited, queue } = await restricted(
    { queue: 'mail', rights: ['claim', 'settle'] },
    { lease: 'job', rights: ['acquire'] },
  );
  await queue.enqueue('p');
  const { id, token } = await claimOne(limited.queue('mail'));
  assert.equal((await limited.queue('mail').adopt(id, token))?.payload, 'p');
  assert.equal(await limited.queue('mail').adopt(id, token + 1), null);
  const granted = await limited.lease('job').acquire('w', { ttl: 100 });
  assert.ok(granted.ok);
  assert.equal((await limited.lease('job').adopt(granted.lease.token))?.owner, 'w');
  assert.equal(await limited.lease('job').adopt(granted.lease.token - 1), null);
  await rejects(limited.lease('other').adopt(granted.lease.token), 'PERMISSION_DENIED');
});

test('closing a restricted store ends its own handles only', async () => {
  const { limited, store, queue } = await restricted({ queue: '*', rights: ['enqueue'] });
  const mail = limited.queue('mail');
  await limited.close();
  await limited.close();
  await rejects(mail.enqueue(1), 'STORE_CLOSED');
  throws(() => limited.queue('mail'), 'STORE_CLOSED');
  await queue.enqueue(1);
  const other = store.as({ actor: 'other', may: [{ queue: 'mail', rights: ['enqueue'] }] });
  await other.queue('mail').enqueue(1);
  await store.close();
  throws(() => other.queue('mail'), 'STORE_CLOSED');
});

test('a caller is checked and captured where it is made', async () => {
  const { store } = await bench();
  const bad: unknown[] = [
    undefined,
    null,
    {},
    { actor: 'a' },
    { actor: 'a', may: [{ queue: 'q', rights: ['fly'] }] },
    { actor: 'a', may: [{ queue: 'q', lease: 'l', rights: [] }] },
    { actor: 'a', may: [{ rights: ['enqueue'] }] },
    { actor: 'a', may: [{ kv: 'k', rights: ['enqueue'] }] },
    { actor: 'a', may: [{ kv: { exact: 7 }, rights: ['read'] }] },
    { actor: 'a', may: [{ kv: { prefix: 'k' }, rights: ['read'] }] },
    { actor: 'a', may: [{ kv: null, rights: ['read'] }] },
    { actor: 7, may: [] },
    { actor: 'a', may: [], more: 1 },
  ];
  for (const caller of bad) throws(() => store.as(caller as never), 'INVALID_ARGUMENT');
  const may: Grant[] = [{ queue: 'mail', rights: ['enqueue'] }];
  const limited = store.as({ actor: 'a', may });
  may.push({ queue: '*', rights: ['claim', 'enqueue'] });
  await rejects(limited.queue('other').enqueue(1), 'PERMISSION_DENIED');
});
