/** A store at its limit: refused, drained, opened again; and restoring a backup. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memory, open } from 'fencepost';
import { openOn } from '../../../pkg/dist/open.js';
import { node } from '../../../pkg/dist/platform/node.js';
import { rejects } from './support.js';

const ROOM = 4 << 20;
const openSmall = openOn(node, { maxStoreBytes: ROOM });

test('a full store says so, is drained, and opens again meanwhile', async () => {
  const journal = memory();
  const store = await openSmall('test', { journal });
  const queue = store.queue<string>('mail');
  let stored = 0;
  const batch = Array.from({ length: 500 }, () => ({ payload: 'x'.repeat(100) }));
  await assert.rejects(
    async () => {
      for (;;) stored += (await queue.enqueueMany(batch)).length;
    },
    { code: 'STORE_FULL', kind: 'unavailable' },
  );
  const { bytes, limit, tasks, queues } = await store.usage();
  assert.deepEqual([limit, tasks.rows, queues.rows], [ROOM, stored, 1]);
  assert.ok(bytes <= limit && bytes > limit / 2, `${bytes} of ${limit}`);
  const backup = await store.snapshot();
  await store.close();

  const again = await openSmall('test', { journal });
  const mail = again.queue<string>('mail');
  assert.equal((await mail.counts()).ready, stored);
  for (let left = stored; left > 0; ) {
    const claimed = await mail.claim('w', { max: 1_000 });
    assert.ok(claimed.length > 0);
    assert.equal(await mail.completeMany(claimed), claimed.length);
    left -= claimed.length;
  }
  assert.equal((await again.usage()).tasks.rows, 0);
  await mail.enqueue('there is room again');
  assert.equal((await again.verify()).ok, true);
  await again.close();

  const restored = await openSmall('test', { journal: memory(), restore: backup });
  assert.equal((await restored.queue('mail').counts()).ready, stored);
  assert.equal((await restored.usage()).bytes, bytes);
  await restored.close();
});

test('a backup that is too large is refused before anything is stored', async () => {
  const store = await open('test', { journal: memory() });
  const payload = 'x'.repeat(100_000);
  for (let at = 0; at < 50; at += 1) await store.queue('mail').enqueue(payload);
  const restore = await store.snapshot();
  await store.close();
  const journal = memory();
  await rejects(openSmall('test', { journal, restore }), 'STORE_FULL');
  const empty = await open('test', { journal });
  assert.equal((await empty.queue('mail').counts()).ready, 0);
  await empty.close();
});

test('a restore that was interrupted is no store, and can be brought to its end', async () => {
  const store = await open('test', { journal: memory() });
  await store.queue('mail').enqueue('kept');
  const restore = await store.snapshot();
  await store.close();
  const journal = memory();
  const failing = Object.assign(Object.create(journal), {
    open: journal.open.bind(journal),
    commit: journal.commit.bind(journal),
    close: journal.close.bind(journal),
    compact: () => Promise.reject(new Error('the power is gone')),
  });
  await assert.rejects(open('test', { journal: failing, restore }));
  await rejects(open('test', { journal }), 'JOURNAL_CORRUPT');
  const again = await open('test', { journal, restore });
  const [task] = await again.queue('mail').claim('w');
  assert.equal(task?.payload, 'kept');
  await again.close();
  const reopened = await open('test', { journal });
  assert.equal((await reopened.queue('mail').counts()).inflight, 1);
  await reopened.close();
});
