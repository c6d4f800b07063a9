/** A store on the file journal with a worker that has nothing to do: what that costs. */
import { argv, cpuUsage, stdout } from 'node:process';
import { setTimeout as pass } from 'node:timers/promises';
import { open } from 'fencepost';
import { file } from 'fencepost/file';
import { faulty } from '../../../pkg/dist/testing/faulty.js';

const [, , path = '', duration = ''] = argv;
let calls = 0;
const choose = () => {
  calls += 1;
  return null;
};
const store = await open('quiet', { journal: faulty(file(path), { choose }) });
const queue = store.queue('mail');
await queue.enqueue('much later', { delay: 3_600_000 });
await using worker = queue.work(() => undefined);
await worker.idle();

const [cpu, began_ms, version, called] = [cpuUsage(), performance.now(), store.version, calls];
await pass(Number(duration));
const { user, system } = cpuUsage(cpu);
const seen = {
  elapsed_ms: performance.now() - began_ms,
  cpu_ms: (user + system) / 1_000,
  commits: store.version - version,
  calls: calls - called,
};
stdout.write(`${JSON.stringify(seen)}\n`);
await store.close();
