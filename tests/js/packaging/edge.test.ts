/** The installed package in a plain edge worker, which has no storage and may not compile code. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CYCLE, CYCLED } from './cycle.js';
import { project } from './project.js';
import { ask, type Miniflare, startWorker } from './worker.js';

const WORKER = `
import * as fencepost from 'fencepost';
import * as inline from 'fencepost/inline';
import { Engine } from 'fencepost/engine';
import module from './node_modules/fencepost/pkg/wasm/fencepost_bg.wasm';
${CYCLE}
const { open, memory } = fencepost;
const told = (work) => work.then(() => 'no error', ({ code, message }) => code + ' ' + message);
const bytes = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
// Whoever opens a store here is told so by whoever asks.
const early = told(open('early', { journal: memory() }));
let kept;
let left;
const answers = {
  '/early': () => early,
  '/kept': async () => {
    kept ??= open('kept', { journal: memory() });
    const store = await kept;
    const queue = store.queue('mail');
    await queue.enqueue('now');
    await queue.enqueue('later', { delay: 50 });
    let count = 0;
    const worker = queue.work(() => { count += 1; });
    while (count < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    await worker.stop();
    return String(count);
  },
  // Its timer is this request's, and ends with it.
  '/leaves': async () => {
    left ??= open('left', { journal: memory() });
    await (await left).queue('mail').enqueue('later', { delay: 100 });
    return 'left';
  },
  '/finds': async () => {
    const worker = (await left).queue('mail').work(({ payload }) => found(payload));
    let found;
    const payload = await new Promise((resolve) => { found = resolve; });
    await worker.stop();
    return payload;
  },
  '/memory': () => cycle(fencepost, { journal: memory() }),
  '/inline': () => cycle(inline, { journal: memory() }),
  '/module': () => cycle(fencepost, { journal: memory(), wasm: module }),
  '/engine': async () => {
    const engine = await Engine.load();
    return engine.queueEnqueue({ queue: 'q', payload: new Uint8Array(1) }, 0).id;
  },
  '/default': () => told(open('kept')),
  '/bytes': () => told(open('kept', { journal: memory(), wasm: bytes })),
};
export default {
  async fetch({ url }) {
    return new Response(await answers[new URL(url).pathname]());
  },
};
`;

let worker: Miniflare;
before(async () => {
  const { path } = project({ 'source.js': WORKER });
  worker = await startWorker(path, 'source.js');
});
after(() => worker.dispose());

test('a store in memory works from every entry, and with a module of the host', async () => {
  for (const path of ['/memory', '/inline', '/module']) {
    assert.equal(await ask(worker, path), CYCLED, path);
  }
  assert.equal(await ask(worker, '/engine'), '1');
});

test('at the top of the module, where nothing may be opened, open says so', async () => {
  const told = await ask(worker, '/early');
  assert.match(told, /^UNSUPPORTED_HOST .*at the top of a Worker's module/);
});

test('a store that requests share works in each of them, timers and all', async () => {
  for (let request = 0; request < 3; request += 1) assert.equal(await ask(worker, '/kept'), '2');
  assert.equal(await ask(worker, '/leaves'), 'left');
  assert.equal(await ask(worker, '/finds'), 'later');
  assert.deepEqual(await Promise.all([1, 2].map(() => ask(worker, '/memory'))), [CYCLED, CYCLED]);
});

test('without storage, open says what to pass', async () => {
  const told = await ask(worker, '/default');
  assert.match(
    told,
    /^INVALID_ARGUMENT journal: .*pass durableObject\(this\.ctx\).*else memory\(\)$/,
  );
});

test('bytes, which may not be compiled here, are refused with what to pass instead', async () => {
  const told = await ask(worker, '/bytes');
  assert.match(told, /^INVALID_ARGUMENT wasm: .*disallowed by embedder.*WebAssembly\.Module/);
});
