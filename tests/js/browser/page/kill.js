/**
 * Commits that show afterwards whether each was stored as a whole: one command counts in two values
 * and enqueues a task with the count.
 */
import { theStore } from './work.js';

const QUEUE = 'counted';
/** So that snapshots are taken as well. */
const PADDING = 'x'.repeat(6_000);

/** Commits without a pause and reports each that was acknowledged. */
export async function writeForEver(round) {
  const store = theStore();
  const granted = await store.lease('writer').acquire(`round ${round}`, { ttl: 0 });
  for (;;) {
    const { value } = await store.transact((tx) => {
      const count = (tx.kv.get('left')?.value ?? 0) + 1;
      tx.kv.put('left', count);
      tx.kv.put('right', count);
      tx.queue(QUEUE).enqueue({ count, padding: PADDING });
      return count;
    });
    const body = JSON.stringify({ round, count: value, token: granted.lease.token });
    void fetch('/report', { method: 'POST', body }).catch(() => undefined);
  }
}

/** Both counts, the number of tasks, and whether all indexes are well. */
export async function whatIsThere() {
  const store = theStore();
  const [left, right] = [await store.kv.get('left'), await store.kv.get('right')];
  const { ready } = await store.queue(QUEUE).counts();
  const { ok } = await store.verify();
  return { left: left?.value ?? 0, right: right?.value ?? 0, tasks: ready, ok };
}
