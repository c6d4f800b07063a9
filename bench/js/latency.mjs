/**
 * From the call of `enqueue` to the first line of the handler, of an idle worker and of one task
 * after the other: the commit, the news of it, and the claim. Run with `--import tsx`.
 */
import { memory, open } from '../../pkg/dist/entry/node.js';
import { call } from '../../tests/js/browser/browser.ts';
import { chromium } from '../../tests/js/browser/chromium.ts';
import { startServer } from '../../tests/js/browser/server.ts';
import { makeProfile, newPageOf, removeProfile, tabsWith } from '../../tests/js/browser/support.ts';

const TASKS = 300;
/** The first ones find nothing compiled and are not counted. */
const WARM_UP = 50;
const KEPT_MS = 3_600_000;

async function inMemory(storesOf) {
  const [from, to] = await storesOf(memory());
  const queue = from.queue('timed', { resultRetention: KEPT_MS });
  const latencies = [];
  const worker = to.queue('timed').work(({ payload }) => {
    latencies.push(performance.now() - payload);
  });
  for (let left = TASKS + WARM_UP; left > 0; left -= 1) {
    const { id } = await queue.enqueue(performance.now());
    await queue.result(id);
  }
  await worker.stop();
  await to.close();
  await from.close();
  return latencies;
}

const sameStore = async (journal) => {
  const store = await open('latency', { journal });
  return [store, store];
};
const otherStore = (journal) =>
  Promise.all([open('latency', { journal }), open('latency', { journal })]);

async function inTabs(workerOf) {
  const profile = makeProfile();
  const server = await startServer();
  const browser = await chromium.start(profile);
  try {
    const tabs = await tabsWith(() => newPageOf(browser, server), 'latency');
    const worker = workerOf(tabs);
    await call(worker, 'startTiming');
    await call(tabs[0], 'enqueueTimed', TASKS + WARM_UP);
    return await call(worker, 'timings');
  } finally {
    await browser.stop();
    await server.close();
    removeProfile(profile);
  }
}

function quantile(sorted, share) {
  return sorted[Math.floor((sorted.length - 1) * share)];
}

const ROWS = [
  ['Node, in memory: the same store', () => inMemory(sameStore)],
  ['Node, in memory: another store of the process', () => inMemory(otherStore)],
  ['Chromium, IndexedDB: the same tab', () => inTabs(([tab]) => tab)],
  ['Chromium, IndexedDB: another tab', () => inTabs(([, tab]) => tab)],
];

console.log(`enqueue to handler, of ${TASKS} tasks, in milliseconds`);
console.log(`  ${''.padEnd(46)}   median      95 %`);
for (const [name, measure] of ROWS) {
  const sorted = (await measure()).slice(WARM_UP).sort((left, right) => left - right);
  const columns = [0.5, 0.95].map((share) => quantile(sorted, share).toFixed(2).padStart(9));
  console.log(`  ${name.padEnd(46)}${columns.join(' ')}`);
}
