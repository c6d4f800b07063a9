/**
 * A store that is filled until it is full, then closed, opened, drained and opened again: how many
 * tasks there are, how long the event loop stood still, and what memory it took.
 *
 * ```sh
 * node bench/js/full.mjs [payload bytes]
 * ```
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { open } from '../../pkg/dist/entry/node.js';
import { file } from '../../pkg/dist/journal/file.js';

const payloadBytes = Number(process.argv[2] ?? 100);
const directory = mkdtempSync(join(tmpdir(), 'fencepost-full-'));
const journal = () => file(join(directory, 'store'), { durability: 'relaxed' });

let worst = 0;
let last = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  worst = Math.max(worst, now - last);
  last = now;
}, 1);

async function step(name, work) {
  [worst, last] = [0, performance.now()];
  const began = performance.now();
  const said = await work();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const { rss } = process.memoryUsage();
  const stall = `longest stall ${Math.round(worst)} ms`;
  console.log(`${name}: ${said}; ${seconds} s, ${stall}, ${Math.round(rss / 1e6)} MB resident`);
}

const options = { timeout: 600_000 };
let store = await open('full', { journal: journal(), ...options });
let count = 0;
await step('filled', async () => {
  const batch = Array.from({ length: 1_000 }, () => ({ payload: 'x'.repeat(payloadBytes - 2) }));
  try {
    while (count < 3_000_000) count += (await store.queue('q').enqueueMany(batch)).length;
  } catch (error) {
    const { bytes, limit } = await store.usage();
    return `${count} tasks, then ${error.code} (${bytes} of ${limit} bytes)`;
  }
  return `${count} tasks`;
});
await step('snapshot', async () => `${(await store.snapshot()).byteLength} bytes`);
await step('closed', async () => void (await store.close()) ?? 'done');
await step('opened', async () => {
  store = await open('full', { journal: journal(), ...options });
  return JSON.stringify(await store.queue('q').counts());
});
await step('drained', async () => {
  let done = 0;
  for (;;) {
    const claimed = await store.queue('q').claim('w', { max: 1_000 });
    if (claimed.length === 0) return `${done} tasks`;
    done += await store.queue('q').completeMany(claimed);
  }
});
await step('closed', async () => void (await store.close()) ?? 'done');
await step('opened', async () => {
  store = await open('full', { journal: journal(), ...options });
  const size = statSync(join(directory, 'store', 'journal')).size;
  return `${JSON.stringify(await store.queue('q').counts())}, the journal has ${size} bytes`;
});
await store.close();
clearInterval(timer);
rmSync(directory, { recursive: true });
