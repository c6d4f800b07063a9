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
const answers = {
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
