/**
 * Lists with holes, and callers that may write but not read: refused by name, and nothing crashes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FencepostError, memory, open } from 'fencepost';

// biome-ignore lint/suspicious/noExplicitAny: what a caller without types may pass
const holes = (): any => new Array(2);

test('a list with holes is refused by name, and the store goes on', async () => {
  const store = await open('holes', { journal: memory() });
  const queue = store.queue('work');
  await queue.enqueue(1);
  const [task] = await queue.claim('worker');
  assert.ok(task);
  const calls = [
    () => queue.enqueueMany(holes()),
    () => queue.completeMany(holes()),
    () => queue.enqueue(1, { writes: holes() }),
    () => task.complete(undefined, { followUps: holes() }),
    () => queue.purge({ ids: holes() }),
  ];
  for (const call of calls) {
    await assert.rejects(async () => call(), { code: 'INVALID_ARGUMENT', message: /\[0\]/ });
  }
  assert.ok((await task.complete()).ok);
  await store.close();
});

test('an effect asks for the right to read: who may only write cannot run it again', async () => {
  const store = await open('effects', { journal: memory() });
  await store.effect('pay').begin();
  await store.effect('pay').complete('first');
  const writer = store.as({ actor: 'writer', may: [{ kv: 'pay', rights: ['write'] }] });
  const denied = (error: unknown) =>
    error instanceof FencepostError && error.code === 'PERMISSION_DENIED';
  await assert.rejects(writer.effect('pay').begin(), denied);
  await assert.rejects(writer.effect('pay').complete('second'), denied);
  assert.equal((await store.effect('pay').status())?.result, 'first');
  await store.close();
});
