/** Results: by which codec, of which size, and what becomes of those that cannot be kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Codec, FencepostError } from 'fencepost';
import { bench, claimOne, held, refused, rejects, throws } from './support.js';

const KEPT = { resultRetention: 60_000 };
/** Writes the hexadecimal digits of JSON. */
const HEX: Codec = {
  name: 'hex',
  encode: (value) => Buffer.from(Buffer.from(JSON.stringify(value)).toString('hex')),
  decode: (bytes) =>
    JSON.parse(Buffer.from(Buffer.from(bytes).toString(), 'hex').toString()) as unknown,
};

test("a result that a transaction stores is written by the task's own codec", async () => {
  const { store } = await bench();
  const queue = store.queue('mail', { codec: HEX });
  const { id } = await queue.enqueue('p', KEPT);
  const task = await claimOne(queue);
  held(await store.transact((tx) => tx.complete(task, { to: 'a' })));
  assert.deepEqual(await queue.result(id), { to: 'a' });
  assert.deepEqual((await queue.get(id))?.result, { to: 'a' });
});

test('a result for a bare claim with another codec is refused, and nothing is done', async () => {
  const { store } = await bench();
  const queue = store.queue('mail', { codec: HEX });
  const { id } = await queue.enqueue('p', KEPT);
  const { token } = await claimOne(queue);
  for (const claim of [
    { id, token, queue: 'mail' },
    { id, token },
  ]) {
    const error = await rejects(
      store.transact((tx) => tx.complete(claim, 1)),
      'INVALID_ARGUMENT',
    );
    assert.match(error.message, /"hex".*"json"/);
  }
  assert.equal((await queue.get(id))?.state, 'inflight');
  held(await store.transact((tx) => tx.complete({ id, token })));
});

test('a claim is known to a transaction by its id and token alone', async () => {
  const { store, queue } = await bench();
  for (let at = 0; at < 4; at += 1) await queue.enqueue(at, KEPT);
  const claims = (await queue.claim('w', { max: 4 })).map(({ id, token }) => ({ id, token }));
  const [done, failed, beaten, released] = claims;
  assert.ok(done && failed && beaten && released);
  held(
    await store.transact((tx) => {
      tx.require(done);
      tx.complete(done, 'result');
      tx.fail(failed, 'no', { final: true });
      tx.heartbeat(beaten, { progress: 1 });
      tx.release(released);
    }),
  );
  const states = await Promise.all(claims.map(async ({ id }) => (await queue.get(id))?.state));
  assert.deepEqual(states, ['done', 'dead', 'inflight', 'ready']);
  assert.equal(await queue.result(done.id), 'result');
  refused(await store.transact((tx) => tx.release({ id: 999, token: 1 })), 'gone');
});

test('a claim without its queue does not tell who may not settle it that it is there', async () => {
  const { store, queue } = await bench();
  const { id } = await queue.enqueue(1);
  const { token } = await claimOne(queue);
  const other = store.as({ actor: 'a', may: [{ queue: 'own', rights: ['settle'] }] });
  for (const claim of [
    { id, token },
    { id: 999, token },
  ]) {
    refused(await other.transact((tx) => tx.complete(claim)), 'gone');
  }
  await rejects(
    other.transact((tx) => tx.complete({ id, token, queue: 'mail' })),
    'PERMISSION_DENIED',
  );
});

test('without a retention whatever a handler returns is ignored', async () => {
  const { queue } = await bench();
  const told: unknown[] = [];
  const returned = [new Response('body'), 10n, 'x'.repeat(2 << 20), () => 1];
  for (let at = 0; at < returned.length; at += 1) await queue.enqueue(at, { maxAttempts: 1 });
  const worker = queue.work(({ payload }) => returned[payload as number], {
    onError: (error) => told.push(error),
  });
  await worker.idle();
  assert.deepEqual(await queue.counts(), { ...(await queue.counts()), ready: 0, dead: 0 });
  assert.deepEqual(told, []);
});

test('a returned value that cannot be kept completes its task, and onError is told', async () => {
  const { store, queue } = await bench();
  const told: FencepostError[] = [];
  const returned = [new Response('body'), 10n, 'x'.repeat(2 << 20)];
  const ids: number[] = [];
  for (let at = 0; at < returned.length; at += 1) {
    ids.push((await queue.enqueue(at, { ...KEPT, maxAttempts: 1 })).id);
  }
  const worker = queue.work(({ payload }) => returned[payload as number], {
    onError: (error) => told.push(error),
  });
  await worker.idle();
  for (const id of ids) {
    assert.equal((await queue.get(id))?.state, 'done');
    assert.equal(await queue.result(id), undefined);
  }
  assert.deepEqual(
    told.map(({ code, details }) => [code, details.id]),
    [
      ['INVALID_ARGUMENT', ids[0]],
      ['INVALID_ARGUMENT', ids[1]],
      ['PAYLOAD_TOO_LARGE', ids[2]],
    ],
  );
  await worker.stop();
  // The same for a codec that throws what it likes.
  const odd = { name: 'odd', encode: () => new Uint8Array(1), decode: () => 1 };
  const strange = store.queue('odd', { codec: odd });
  const { id } = await strange.enqueue(1, KEPT);
  odd.encode = () => {
    throw 'a tantrum';
  };
  const another = strange.work(() => 1, { onError: (error) => told.push(error) });
  await another.idle();
  assert.equal((await strange.get(id))?.state, 'done');
  assert.match(told.at(-1)?.message ?? '', /without its result: a tantrum/);
});

test('a result given by hand that cannot be kept rejects, and the claim goes on', async () => {
  const { queue } = await bench();
  await queue.enqueue(1, KEPT);
  const task = await claimOne(queue);
  await rejects(task.complete(10n), 'INVALID_ARGUMENT');
  await rejects(task.complete('x'.repeat(2 << 20)), 'PAYLOAD_TOO_LARGE');
  held(await task.complete('fine'));
});

test('of an effect the result is measured, and not what the store writes around it', async () => {
  const { store } = await bench({ maxPayloadBytes: 100 });
  await store.effect('a').complete('x'.repeat(98));
  assert.equal((await store.effect('a').status())?.result, 'x'.repeat(98));
  const error = await rejects(store.effect('b').complete('x'.repeat(99)), 'PAYLOAD_TOO_LARGE');
  assert.deepEqual(error.details, { argument: 'result', size: 101, limit: 100 });
  await rejects(store.kv.put('c', 'x'.repeat(99)), 'PAYLOAD_TOO_LARGE');
});

test('the names of outboxes, locks and effects end at 200 bytes', async () => {
  const { store } = await bench();
  for (const make of ['outbox', 'lock', 'effect'] as const) {
    store[make]('é'.repeat(100));
    throws(() => store[make](`${'é'.repeat(100)}x`), 'INVALID_NAME');
  }
});

test('what is too large names the option that bounds it, and how far that goes', async () => {
  const { queue, store } = await bench({ maxPayloadBytes: 100 });
  const option =
    /at most 100 bytes, got \d+: the option maxPayloadBytes of open\(\), at most 8388608/;
  for (const call of [
    () => queue.enqueue('x'.repeat(200)),
    () => store.kv.put('k', 'x'.repeat(200)),
    () => store.effect('e').complete('x'.repeat(200)),
  ]) {
    assert.match((await rejects(call(), 'PAYLOAD_TOO_LARGE')).message, option);
  }
  await queue.enqueue(1);
  const task = await claimOne(queue);
  const note = await rejects(
    task.heartbeat({ progress: 'x'.repeat(1 << 17) }),
    'PAYLOAD_TOO_LARGE',
  );
  assert.doesNotMatch(note.message, /option/);
});
