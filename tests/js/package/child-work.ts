/**
 * Works on a store until it is killed, and prints a line for everything it was promised: the number
 * that a transaction counted up to while it enqueued a task, then `done <id>` for a completed one.
 */
import { argv } from 'node:process';
import { open } from 'fencepost';
import { file } from 'fencepost/file';
import { say } from '../journal/say.js';

async function workUntilKilled(path: string): Promise<void> {
  const store = await open('work', { journal: file(path, { durability: 'relaxed' }) });
  const queue = store.queue('mail', { lease: 0, maxAttempts: Number.MAX_SAFE_INTEGER });
  say('open');
  for (;;) {
    const counted = await store.transact((tx) => {
      const count = (tx.kv.get<number>('count')?.value ?? 0) + 1;
      tx.kv.put('count', count);
      tx.queue('mail').enqueue(count, { key: `count ${count}`, keyRetention: Infinity });
      return count;
    });
    if (counted.ok) say(counted.value);
    if (!counted.ok || counted.value % 3 > 0) continue;
    for (const task of await queue.claim('child')) {
      const done = await task.complete();
      if (done.ok) say(`done ${task.id}`);
    }
  }
}

await workUntilKilled(argv[2] ?? '');
