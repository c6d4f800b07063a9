/**
 * Works on a queue in a process of its own. With `memory` it waits for a word on its input, stops
 * its worker, and has nothing left to do; with a path it says what it runs, and never ends it.
 */
import { once } from 'node:events';
import { argv, stdin, stdout } from 'node:process';
import { memory, open } from 'fencepost';
import { file } from 'fencepost/file';

async function workUntilTold(): Promise<void> {
  const store = await open('work', { journal: memory() });
  const queue = store.queue<string>('mail');
  await queue.enqueue('now');
  await queue.enqueue('much later', { delay: 3_600_000 });
  const worker = queue.work(({ payload }) => void stdout.write(`${payload}\n`));
  await worker.idle();
  stdout.write('idle\n');
  await once(stdin, 'data');
  stdin.unref();
  await worker.stop();
  stdout.write('stopped\n');
}

async function workUntilKilled(path: string): Promise<void> {
  const store = await open('work', { journal: file(path) });
  const queue = store.queue<string>('mail');
  await queue.enqueue('task', { key: 'once' });
  queue.work(
    ({ id, token, attempt }) => {
      stdout.write(`${JSON.stringify({ id, token, attempt })}\n`);
      return new Promise<void>(() => undefined);
    },
    { lease: 600 },
  );
}

const [, , where = 'memory'] = argv;
await (where === 'memory' ? workUntilTold() : workUntilKilled(where));
