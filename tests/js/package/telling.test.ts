/** What the program is told: how handles print, each failure, and when nothing is left to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { NonRetriable, RetryAfter } from 'fencepost';
import { bench, claimOne, held, rejects } from './support.js';

test('a claimed task shows its payload in JSON, in a copy and when it is printed', async () => {
  const { queue, store } = await bench();
  await queue.enqueue({ to: 'ada' }, { key: 'k' });
  const task = await claimOne(queue, 'me');
  held(await task.heartbeat({ progress: { done: 1 }, extend: 5_000 }));
  const shown = {
    id: task.id,
    queue: 'mail',
    payload: { to: 'ada' },
    progress: { done: 1 },
    priority: 0,
    attempt: 1,
    maxAttempts: 3,
    token: task.token,
    owner: 'me',
    deadline: task.deadline,
    enqueuedAt: task.enqueuedAt,
    key: 'k',
  };
  assert.deepEqual(JSON.parse(JSON.stringify(task)), shown);
  assert.deepEqual({ ...task }, shown);
  assert.match(inspect(task), /^Task \{.*payload: \{ to: 'ada' \}.*\}$/s);
  const picky = { name: 'picky', encode: () => new Uint8Array(1), decode: () => JSON.parse('{') };
  const strange = store.queue('strange', { codec: picky });
  await strange.enqueue(1);
  assert.match(inspect(await claimOne(strange)), /^Task \{\s+id: 2/);
});

test('the task of a handler and a lease are shown in the same way', async () => {
  const { queue, store } = await bench();
  await queue.enqueue('p');
  const seen: unknown[] = [];
  const worker = queue.work(
    (task) => void seen.push(JSON.parse(JSON.stringify(task)), { ...task }),
  );
  await worker.idle();
  for (const one of seen) {
    const { payload, attempt, queue: name } = one as Record<string, unknown>;
    assert.deepEqual([payload, attempt, name], ['p', 1, 'mail']);
    assert.ok(!Object.hasOwn(one as object, 'isSettling'));
  }
  const granted = await store.lease('l').acquire('me', { ttl: 1_000, meta: { at: 1 } });
  assert.ok(granted.ok);
  const { lease } = granted;
  held(await lease.renew({ ttl: 5_000, meta: { at: 2 } }));
  const { name, owner, token, until, acquiredAt } = lease;
  const shown = { name, owner, token, until, acquiredAt, meta: { at: 2 } };
  assert.deepEqual(JSON.parse(JSON.stringify(lease)), shown);
  assert.deepEqual({ ...lease }, shown);
  assert.match(inspect(lease), /^Lease \{.*meta: \{ at: 2 \}.*\}$/s);
});

test('onFailure is told of every failed attempt, with the task and what was thrown', async () => {
  const { queue, clock } = await bench();
  const told: unknown[] = [];
  const errors = [new Error('one'), new RetryAfter(10), 'two', new NonRetriable('three')];
  await queue.enqueue('a', { maxAttempts: 9, backoff: { base: 10, jitter: 'none' } });
  await queue.enqueue('slow', { maxAttempts: 1 });
  const worker = queue.work(
    ({ payload, attempt }) => {
      if (payload === 'slow') return new Promise(() => undefined);
      throw errors[attempt - 1];
    },
    {
      concurrency: 2,
      maxRun: 5_000,
      onFailure: (task, error) => {
        told.push([task.payload, task.attempt, error]);
        throw new Error('ignored');
      },
    },
  );
  await clock.advance(10_000);
  const timedOut = told.pop() as [string, number, { code: string }];
  assert.deepEqual(
    told,
    errors.map((error, at) => ['a', at + 1, error]),
  );
  assert.deepEqual([timedOut[0], timedOut[2].code], ['slow', 'TIMED_OUT']);
  await worker.stop();
});

test('drained waits for what waits, runs, is retried or lapses, and for nothing else', async () => {
  const { queue, store, clock } = await bench();
  await queue.drained();
  await queue.enqueue('retried', { maxAttempts: 2, backoff: { base: 5_000, jitter: 'none' } });
  await queue.enqueue('claimed by one that dies');
  await queue.claim('dead', { lease: 20_000 });
  await store.queue('other').enqueue('not of this queue');
  const end = { at: 0 };
  const draining = queue.drained().then(() => {
    end.at = clock.monotonic();
  });
  queue.work(({ payload, attempt }) => {
    if (payload === 'retried' && attempt === 1) throw new Error('again');
  });
  await clock.advance(19_000);
  assert.deepEqual([end.at, (await queue.counts()).inflight], [0, 1]);
  await clock.advance(30_000);
  await draining;
  // The lease of the dead owner, then the backoff.
  assert.ok(end.at >= 20_000 && end.at < 30_000, `drained at ${end.at}`);
});

test('drained does not wait for what is due from `until` on', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('later', { delay: 60_000 });
  await queue.drained({ until: clock.now() + 60_000 });
  await queue.drained({ until: new Date(clock.now() + 60_000) });
  let isDrained = false;
  const controller = new AbortController();
  const waiting = queue.drained({ until: clock.now() + 60_001, signal: controller.signal });
  void waiting.then(
    () => {
      isDrained = true;
    },
    () => undefined,
  );
  await clock.advance(59_000);
  assert.equal(isDrained, false);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await rejects(queue.drained({ until: 'soon' as never }), 'INVALID_ARGUMENT');
});

test('drained ends when its store closes', async () => {
  const { store, queue } = await bench();
  await queue.enqueue(1);
  const waiting = rejects(queue.drained(), 'STORE_CLOSED');
  await store.sync();
  await store.close();
  await waiting;
});
