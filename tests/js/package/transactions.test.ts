/** Promises 42 to 44, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, del, FencepostError, put, type Task, type Transaction } from 'fencepost';
import { bench, claimOne, held, refused, rejects, throws } from './support.js';

test('a body sees its own writes and commits by returning', async () => {
  const { store, queue } = await bench();
  await store.kv.put('a', 1);
  const done = await store.transact((tx) => {
    tx.kv.put('b', 2);
    assert.deepEqual(tx.kv.get('b'), { value: 2, version: undefined });
    assert.equal(tx.kv.delete('a'), true);
    assert.equal(tx.kv.get('a'), null);
    const { id } = tx.queue('mail', { maxAttempts: 7 }).enqueue('p');
    assert.equal(tx.queue('mail').get(id)?.maxAttempts, 7);
    tx.outbox('mail').enqueue('o');
    assert.equal(tx.now, tx.now);
    return tx.kv.list().items.map(({ key }) => key);
  });
  assert.deepEqual(held(done), ['b']);
  assert.ok(done.ok);
  assert.equal(done.version, store.version);
  assert.equal((await store.kv.get('b'))?.version, done.version);
  assert.deepEqual((await queue.counts()).ready, 1);
  const [outboxed] = await store.outbox('mail').claim('w');
  assert.deepEqual([outboxed?.queue, outboxed?.maxAttempts], ['__fencepost_outbox:mail', 5]);
});

test('throwing leaves no trace and rethrows the very error', async () => {
  const { store, queue } = await bench();
  const before = await store.sync();
  const error = new FencepostError('CHECK_FAILED', 'mine');
  const thrown = await store
    .transact((tx) => {
      tx.kv.put('a', 1);
      tx.queue('mail').enqueue(1);
      throw error;
    })
    .catch((caught: unknown) => caught);
  assert.equal(thrown, error);
  assert.equal(await store.sync(), before);
  assert.deepEqual((await queue.counts()).ready, 0);
});

test('the first guard that does not hold ends the body, even if it is caught', async () => {
  const { store, queue } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue);
  held(await task.complete());
  const outcome = await store.transact((tx) => {
    tx.kv.put('a', 1);
    for (const guard of [() => tx.check('a', 7), () => tx.complete(task)]) {
      assert.throws(guard);
    }
    return 'caught';
  });
  refused(outcome, 'changed');
  assert.deepEqual(!outcome.ok && outcome.details, { key: 'a', expected: 7, actual: null });
  assert.equal(await store.kv.get('a'), null);
  refused(await store.transact((tx) => tx.complete(task)), 'gone');
  refused(await store.transact((tx) => tx.require(task)), 'gone');
});

test('tasks are settled inside with what else there is to write', async () => {
  const { store, queue } = await bench();
  for (let at = 0; at < 4; at += 1) await queue.enqueue(at, { resultRetention: 1_000 });
  const [done, failed, beaten, released] = await queue.claim('w', { max: 4 });
  const lease = await store.lease('l').acquire('w', { ttl: 100 });
  assert.ok(lease.ok && done && failed && beaten && released);
  held(
    await store.transact((tx) => {
      tx.require(lease.lease);
      tx.require(done);
      tx.complete({ id: done.id, token: done.token, queue: 'mail' }, 'result');
      tx.fail(failed, 'no', { final: true });
      tx.heartbeat(beaten, { extend: 7, progress: 1 });
      tx.release(released);
    }),
  );
  assert.equal(await queue.result(done.id), 'result');
  assert.deepEqual(await queue.counts(), {
    scheduled: 0,
    ready: 1,
    inflight: 1,
    done: 1,
    dead: 1,
    lapsed: 0,
  });
  await lease.lease.release();
  refused(await store.transact((tx) => tx.require(lease.lease)), 'released');
});

test('check compares with the state before the transaction', async () => {
  const { store } = await bench();
  const { version } = await store.kv.put('a', 1);
  held(
    await store.transact((tx) => {
      tx.kv.put('a', 2);
      tx.check('a', version);
    }),
  );
  refused(await store.transact((tx) => tx.check('a', null)), 'changed');
});

test('an async body is refused, and so is a transaction after its body', async () => {
  const { store } = await bench();
  let kept: Transaction | undefined;
  await rejects(
    store.transact(async (tx) => {
      kept = tx;
      await null;
      tx.kv.put('a', 1);
    }),
    'INVALID_ARGUMENT',
  );
  throws(() => kept?.kv.put('a', 1), 'INVALID_ARGUMENT');
  assert.equal(await store.kv.get('a'), null);
  await rejects(store.transact(7 as unknown as () => void), 'INVALID_ARGUMENT');
});

test('an operation that fails inside may be caught, and undoes itself only', async () => {
  const { store } = await bench();
  held(
    await store.transact((tx) => {
      tx.kv.put('a', 1);
      throws(() => tx.kv.put('  ', 1), 'INVALID_NAME');
      throws(() => tx.queue('mail').enqueue(undefined), 'INVALID_ARGUMENT');
      throws(() => tx.queue('mail').enqueue(1, { writes: [] } as object), 'INVALID_ARGUMENT');
    }),
  );
  assert.equal((await store.kv.get('a'))?.value, 1);
});

test('two writes of one key never share a version, and check(key, null) means absent', async () => {
  const { store, queue } = await bench();
  const [one, two] = await Promise.all([store.kv.put('k', 1), store.kv.put('k', 2)]);
  assert.equal(two.version, one.version + 1);
  await rejects(queue.enqueue(1, { writes: [check('k', one.version)] }), 'CHECK_FAILED');
  await rejects(queue.enqueue(1, { writes: [check('k', null)] }), 'CHECK_FAILED');
  await queue.enqueue(1, { writes: [check('k', two.version), del('k'), put('new', 1)] });
  assert.equal(await store.kv.get('k'), null);
  assert.equal(await store.kv.delete('k'), false);
  assert.equal((await store.kv.get('new'))?.version, store.version);
});

test('enqueueMany is all or nothing', async () => {
  const { store, queue } = await bench();
  const items = [{ payload: 1 }, { payload: 2, options: { writes: [check('k', 3)] } }];
  await rejects(queue.enqueueMany(items), 'CHECK_FAILED');
  assert.equal((await queue.counts()).ready, 0);
  const before = store.version;
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  assert.equal(store.version, before + 1);
  assert.deepEqual(await queue.enqueueMany([]), []);
});

test('what somebody put on every object changes no answer of a transaction', async (t) => {
  const names = ['refused', 'refusal', 'thrown', 'error', 'value', 'name', 'how'];
  const { store, queue } = await bench();
  await queue.enqueue('p');
  const task = await claimOne(queue);
  for (const name of names) {
    const polluted = { value: 'polluted', configurable: true, writable: true };
    Object.defineProperty(Object.prototype, name, polluted);
  }
  t.after(() => {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  });
  const done = await store.transact((tx) => {
    tx.require(task);
    return 7;
  });
  const thrown = new RangeError('mine');
  const failed = await store.transact(() => raise(thrown)).catch((e) => e);
  const refusal = await store.transact((tx) => tx.require({ ...task, queue: 'mail', token: 1 }));
  assert.deepEqual([done.ok, done.ok && done.value], [true, 7]);
  assert.equal(failed, thrown);
  assert.deepEqual([refusal.ok, !refusal.ok && refusal.reason], [false, 'fenced']);
});

test('a function that can be waited for is refused like a promise', async () => {
  const { store } = await bench();
  const later = Object.defineProperty(() => undefined, 'then', { value: () => undefined });
  await rejects(
    store.transact(() => later),
    'INVALID_ARGUMENT',
  );
  const nobody: unknown = { token: 1 };
  await rejects(
    store.transact((tx) => tx.require(nobody as Task)),
    'INVALID_ARGUMENT',
  );
});

function raise(error: Error): never {
  throw error;
}
