/**
 * Works on a queue in a process of its own. With `memory` it waits for a word on its input, stops
 * its worker, and has nothing left to do; with a path it says what it runs, and never ends it.
 */
import { once } from 'node:events';
import { argv, stdin } from 'node:process';
import { memory, open } from 'fencepost';
import { file } from 'fencepost/file';
import { say } from '../journal/say.js';

async function workUntilTold(): Promise<void> {
  const store = await open('work', { journal: memory() });
  const queue = store.queue<string>('mail');
  await queue.enqueue('now');
  await queue.enqueue('much later', { delay: 3_600_000 });
  const worker = queue.work(({ payload }) => say(payload));
  await worker.idle();
  say('idle');
  await once(stdin, 'data');
  stdin.unref();
  await worker.stop();
  say('stopped');
}

async function workUntilKilled(path: string): Promise<void> {
  const store = await open('work', { journal: file(path) });
  const queue = store.queue<string>('mail');
  await queue.enqueue('task', { key: 'once' });
  queue.work(
    ({ id, token, attempt }) => {
      say(JSON.stringify({ id, token, attempt }));
      return new Promise<void>(() => undefined);
    },
    { lease: 600 },
  );
}

const [, , where = 'memory'] = argv;
await (where === 'memory' ? workUntilTold() : workUntilKilled(where));
