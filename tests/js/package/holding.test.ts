/** Promises 10 to 25, through the package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, put } from 'fencepost';
import { bench, claimOne, held, payloads, refused, rejects } from './support.js';

test('a wrong token is refused and the right one still works', async () => {
  const { queue } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue);
  assert.equal(await queue.completeMany([{ id: task.id, token: task.token - 1 }]), 0);
  assert.equal(await queue.adopt(task.id, task.token - 1), null);
  const adopted = await queue.adopt(task.id, task.token);
  assert.ok(adopted);
  held(await adopted.complete());
  refused(await task.complete(), 'gone');
});

test('the owner holds a claim at the deadline and not a millisecond longer', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue, 'w', { lease: 50 });
  clock.setWall(task.deadline);
  held(await task.heartbeat({ extend: 50 }));
  clock.setWall(task.deadline + 1);
  refused(await task.complete(), 'expired');
  refused(await task.fail(), 'expired');
  refused(await task.heartbeat(), 'expired');
  refused(await task.release(), 'expired');
  assert.equal(await queue.adopt(task.id, task.token), null);
});

test('a lapsed task comes back in its old place and fences its first owner', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('a');
  await queue.enqueue('b');
  const first = await claimOne(queue, 'one', { lease: 10 });
  clock.setWall(clock.now() + 11);
  const again = await claimOne(queue, 'one');
  assert.deepEqual([again.payload, again.attempt], ['a', 2]);
  assert.ok(again.token > first.token);
  refused(await first.complete(), 'fenced');
  held(await again.complete());
});

test('a heartbeat counts from now and keeps its progress for the next claim', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue, 'w', { lease: 100 });
  clock.setWall(clock.now() + 50);
  assert.equal(
    held(await task.heartbeat({ extend: 60, progress: { at: 1 } })).deadline,
    task.deadline,
  );
  assert.equal(task.deadline, clock.now() + 60);
  assert.deepEqual(task.progress, { at: 1 });
  held(await task.heartbeat());
  assert.equal(task.deadline, clock.now() + 100);
  await rejects(task.heartbeat({ extend: 0 }), 'INVALID_ARGUMENT');
  await rejects(task.heartbeat({ extend: -1 }), 'INVALID_ARGUMENT');
  await task.release();
  assert.deepEqual((await claimOne(queue)).progress, { at: 1 });
});

test('a claim of no length can be taken from the next millisecond on', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1);
  await claimOne(queue, 'w', { lease: 0 });
  assert.deepEqual(await queue.claim('v'), []);
  clock.setWall(clock.now() + 1);
  await claimOne(queue, 'v');
});

test('a failed task is due after its backoff, or exactly after the given delay', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1, { maxAttempts: 9 });
  const failed = held(await (await claimOne(queue)).fail(new Error('no')));
  const wait = (failed.runAt ?? 0) - clock.now();
  assert.ok(wait >= 2_500 && wait <= 5_000, `${wait}`);
  const record = await queue.get(1);
  assert.deepEqual([record?.state, record?.lastError, record?.lastOwner], ['scheduled', 'no', 'w']);
  assert.ok(record !== null && !('owner' in record) && !('deadline' in record));
  clock.setWall(failed.runAt ?? 0);
  const exact = held(await (await claimOne(queue)).fail('again', { delay: 70 }));
  assert.equal(exact.runAt, clock.now() + 70);
  clock.setWall(clock.now() + 70);
  const atOnce = held(await (await claimOne(queue)).fail({ code: 7 }, { delay: -5 }));
  assert.deepEqual([atOnce.state, atOnce.runAt], ['ready', clock.now()]);
  assert.equal((await queue.get(1))?.lastError, '{"code":7}');
});

test('a task dies of its last attempt or of a final failure, and says why', async () => {
  const { queue } = await bench();
  await queue.enqueue('last', { maxAttempts: 1 });
  await queue.enqueue('final');
  await queue.enqueue('silent', { maxAttempts: 1 });
  const [last, final, silent] = await queue.claim('w', { max: 3 });
  assert.ok(last && final && silent);
  assert.deepEqual(held(await last.fail('boom')), { state: 'dead' });
  held(await final.fail(undefined, { final: true }));
  held(await silent.fail());
  const { items } = await queue.list({ state: 'dead' });
  assert.deepEqual(
    items.map(({ deadReason, lastError }) => [deadReason, lastError]),
    [
      ['exhausted', 'boom'],
      ['failed', 'failed'],
      ['exhausted', 'max attempts exceeded'],
    ],
  );
});

test('a claim that lapses on its last attempt dies at the next, which serves others', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue('doomed', { maxAttempts: 1, lease: 10 });
  await claimOne(queue);
  await queue.enqueue('other');
  clock.setWall(clock.now() + 11);
  assert.deepEqual(payloads(await queue.claim('w', { max: 5 })), ['other']);
  const dead = await queue.get(1);
  assert.deepEqual([dead?.deadReason, dead?.lastError], ['exhausted', 'max attempts exceeded']);
});

test('a task is cancelled once, in any state, and its holder is told that it is gone', async () => {
  const { queue } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue);
  assert.equal(await queue.cancel(task.id, 'no need'), true);
  assert.equal(await queue.cancel(task.id), false);
  refused(await task.heartbeat(), 'gone');
});

test('completeMany counts what landed', async () => {
  const { queue, clock } = await bench();
  for (let at = 0; at < 3; at += 1) await queue.enqueue(at);
  const [lapsed] = await queue.claim('w', { lease: 5 });
  const [cancelled, good] = await queue.claim('w', { max: 2 });
  assert.ok(lapsed && cancelled && good);
  await queue.cancel(cancelled.id);
  clock.setWall(clock.now() + 6);
  assert.equal(await queue.completeMany([lapsed, cancelled, good, { id: 99, token: 1 }]), 1);
  assert.equal(await queue.completeMany([]), 0);
  const many = Array.from({ length: 10_001 }, () => good);
  await rejects(queue.completeMany(many), 'LIMIT_EXCEEDED');
});

test('complete applies writes and follow-ups in its own commit, or none of it', async () => {
  const { queue, store } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue);
  const extras = { followUps: [{ queue: 'next', payload: 'n' }], writes: [put('done', true)] };
  const stale = { ...extras, writes: [check('done', 5), ...extras.writes] };
  const changed = await task.complete(undefined, stale);
  refused(changed, 'changed');
  assert.deepEqual(!changed.ok && changed.details, { key: 'done', expected: 5, actual: null });
  assert.equal(await store.kv.get('done'), null);
  const done = await task.complete(undefined, extras);
  assert.deepEqual(held(done).followUps, [{ id: 2, seq: 1, created: true, state: 'ready' }]);
  assert.ok(done.ok);
  assert.equal((await store.kv.get('done'))?.version, done.version);
  refused(await task.complete(undefined, extras), 'gone');
  assert.deepEqual((await store.queue('next').counts()).ready, 1);
});

test('two follow-ups with one key make one task, and one that exists stops nothing', async () => {
  const { queue, store } = await bench();
  await store.queue('next').enqueue('there', { key: 'k' });
  await queue.enqueue(1);
  const followUp = (key: string) => ({ queue: 'next', payload: 1, options: { key } });
  const task = await claimOne(queue);
  const done = held(await task.complete(1, { followUps: ['k', 'n', 'n'].map(followUp) }));
  assert.deepEqual(
    done.followUps.map(({ id, created }) => [id, created]),
    [
      [1, false],
      [3, true],
      [3, false],
    ],
  );
});

test('a task that is renewed again and again outlives its lease tenfold', async () => {
  const { queue, clock } = await bench();
  await queue.enqueue(1);
  const task = await claimOne(queue, 'w', { lease: 100 });
  for (let beat = 0; beat < 20; beat += 1) {
    clock.setWall(clock.now() + 50);
    held(await task.heartbeat());
    assert.deepEqual(await queue.claim('v'), []);
  }
});

test('a released task keeps its place and its attempts', async () => {
  const { queue } = await bench();
  await queue.enqueue('a');
  await queue.enqueue('b');
  const task = await claimOne(queue);
  held(await task.release());
  refused(await task.complete(), 'settled');
  const again = await claimOne(queue);
  assert.deepEqual([again.payload, again.attempt], ['a', 1]);
});

test('a heartbeat and a release in one tick leave the task released, in either order', async () => {
  for (const order of ['release first', 'heartbeat first']) {
    const { queue } = await bench();
    const { id } = await queue.enqueue(1);
    const task = await claimOne(queue);
    const calls = [() => task.release(), () => task.heartbeat()];
    if (order === 'heartbeat first') calls.reverse();
    await Promise.all(calls.map((call) => call()));
    assert.equal((await queue.get(id))?.state, 'ready', order);
    refused(await task.heartbeat(), 'settled');
  }
});
