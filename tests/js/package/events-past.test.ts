/** The past of `store.events()`, read from a journal that has not the past any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Journal, memory, type News } from 'fencepost';
import { keysOf, reader, take } from './event-reader.js';
import { bench, rejects } from './support.js';

test('a journal that went back while its past is read is told as another one', async () => {
  const inner = memory();
  // Who replays is given two entries, and then hears that there is only one.
  const backwards = (after: number, { tip, entries }: News): News =>
    after === 0
      ? { tip: tip && { ...tip, slot: 2 }, entries: entries.slice(0, 2) }
      : { tip: tip && { ...tip, slot: 1 }, entries: [] };
  let commit: Journal['commit'] = (after, decide) => inner.commit(after, decide);
  const journal: Journal = {
    open: (name, options) => inner.open(name, options),
    commit: (after, decide) => commit(after, decide),
    compact: (slot, snapshot) => inner.compact(slot, snapshot),
    close: () => inner.close(),
  };
  const { store } = await bench({ journal });
  for (const key of ['a', 'b', 'c']) await store.kv.put(key, 1);
  assert.deepEqual(keysOf(await take(reader(store, { from: 1 }), 3)), ['a', 'b', 'c']);
  commit = (after, decide) =>
    inner.commit(after, (news) => decide(after > 2 ? news : backwards(after, news)));
  await rejects(take(reader(store, { from: 1 }), 3), 'LOG_REPLACED');
});
