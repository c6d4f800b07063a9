/** Whoever takes a journal over from a dead holder goes on with its work at once. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Journal, memory, open, type Store } from 'fencepost';
import { file } from 'fencepost/file';
import type { Tenure } from '../../../pkg/dist/journal/journal.js';
import { Child } from '../journal/child.js';
import { temporaryDirectory } from '../journal/directory.js';

const SCRIPT = new URL('child-claim.ts', import.meta.url).href;
const HOUR_MS = 3_600_000;

/** Opens the store in a process of its own, claims there, and kills it. */
async function claimAndDie(context: TestContext, path: string, max = 1): Promise<void> {
  const child = new Child(context, SCRIPT, [path, String(max)]);
  assert.equal(await child.line(), `claimed ${max}`);
  await child.kill();
}

function opened(path: string): Promise<Store> {
  return open('work', { journal: file(path) });
}

test('what a killed process had is free at once, what others had is kept', async (context) => {
  const path = temporaryDirectory();
  let store = await opened(path);
  let queue = store.queue<number>('mail');
  await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
  const [kept] = await queue.claim('patient', { lease: HOUR_MS });
  assert.ok(kept);
  await store.close();
  await claimAndDie(context, path);

  store = await opened(path);
  queue = store.queue('mail');
  const adopted = await queue.adopt(kept.id, kept.token);
  assert.deepEqual([adopted?.owner, adopted?.payload], ['patient', 1]);
  const claimed = await queue.claim('successor', { max: 9 });
  assert.deepEqual(
    claimed.map(({ payload, attempt }) => [payload, attempt]),
    [
      [2, 2],
      [3, 1],
    ],
    'in its old place, without backoff, and the attempt of the dead one counts',
  );
  assert.ok((await store.lease('leader').acquire('successor', { ttl: HOUR_MS })).ok);
  assert.ok(await store.lock('door').try('successor', { ttl: HOUR_MS }));
  assert.ok((await adopted?.complete())?.ok);
  await store.close();
});

test('the events say what was given back', async (context) => {
  const path = temporaryDirectory();
  let store = await opened(path);
  await store.queue('mail').enqueue(1);
  const { version } = store;
  await store.close();
  await claimAndDie(context, path);
  store = await opened(path);
  const told: string[] = [];
  for await (const event of store.events({ from: version })) {
    told.push(`${event.type} ${'reason' in event ? event.reason : ''}`.trim());
    if (told.length === 6) break;
  }
  assert.deepEqual(told.slice(3), ['released abandoned', 'lease-released', 'lease-released']);
  await store.close();
});

test('as much as fills a commit is given back, time and again', async (context) => {
  const path = temporaryDirectory();
  let store = await opened(path);
  await store.queue('mail').enqueueMany(Array.from({ length: 2_000 }, () => ({ payload: 0 })));
  await store.close();
  await claimAndDie(context, path, 1_000);
  await claimAndDie(context, path, 1_000);
  store = await opened(path);
  for (const attempt of [3, 1]) {
    const claimed = await store.queue('mail').claim('successor', { max: 1_000 });
    assert.equal(claimed.length, 1_000);
    assert.ok(claimed.every((task) => task.attempt === attempt));
  }
  await store.close();
});

/** A journal whose holder before noted `since`; what is noted is kept in `notes`. */
function inherited(inner: Journal, since: number | null, notes: number[], fails = false): Journal {
  const tenure: Tenure = {
    since,
    note(token) {
      if (fails) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      notes.push(token);
    },
  };
  return {
    open: async (name, options) => ({ ...(await inner.open(name, options)), tenure }),
    commit: inner.commit.bind(inner),
    compact: inner.compact.bind(inner),
    close: inner.close.bind(inner),
  };
}

test('the newest token is noted before anything is granted', async () => {
  const notes: number[] = [];
  const store = await open('work', { journal: inherited(memory(), null, notes) });
  await store.queue('mail').enqueue(1);
  const [task] = await store.queue('mail').claim('w');
  assert.equal(notes.length, 1);
  assert.ok(task && notes[0] !== undefined && task.token > notes[0]);
  await store.close();
});

test('a store opens although nothing can be noted, as on a full disk', async () => {
  const store = await open('work', { journal: inherited(memory(), 0, [], true) });
  await store.queue('mail').enqueue(1);
  await store.close();
});
