/** Workers in real processes: one that is stopped, and one that is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'fencepost';
import { file } from 'fencepost/file';
import { Child } from '../journal/child.js';
import { temporaryDirectory } from '../journal/directory.js';

const SCRIPT = new URL('child-worker.ts', import.meta.url).href;

test('an idle worker keeps its process alive, and a stopped one lets it end', async (context) => {
  const child = new Child(context, SCRIPT, ['memory']);
  assert.deepEqual([await child.line(), await child.line()], ['now', 'idle']);
  assert.equal(child.process.exitCode, null);
  assert.equal(await child.ask('stop'), 'stopped');
  assert.equal(await child.line(), null);
  assert.equal(await child.finish(), 0);
});

test('the task of a killed worker is taken over under a larger token', async (context) => {
  const path = temporaryDirectory();
  const child = new Child(context, SCRIPT, [path]);
  const first = JSON.parse((await child.line()) ?? '') as Record<string, number>;
  assert.equal(first.attempt, 1);
  await child.kill();
  const store = await open('work', { journal: file(path) });
  const queue = store.queue('mail');
  const before = await queue.get(first.id ?? 0);
  assert.deepEqual([before?.state, before?.token], ['inflight', first.token]);
  const taken = await new Promise<Record<string, number>>((resolve) => {
    queue.work(({ id, token, attempt }) => resolve({ id, token, attempt }));
  });
  assert.deepEqual([taken.id, taken.attempt], [first.id, 2]);
  assert.ok((taken.token ?? 0) > (first.token ?? 0));
  await store.close({ drain: Infinity });
  const again = await open('work', { journal: file(path) });
  assert.equal(await again.queue('mail').get(first.id ?? 0), null);
  await again.close();
});
