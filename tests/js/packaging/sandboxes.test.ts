/**
 * The installed package where code runs beside the host's own: test runners and edge sandboxes
 * have a `Date`, a `Uint8Array` and an `Error` of their own, lack some globals, forbid `import()`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { CYCLE, CYCLED } from './cycle.js';
import { project, TOOLS } from './project.js';

const tool = (path: string) => JSON.stringify(join(TOOLS, path));

/** What a store is given by a program of another realm. */
const FOREIGN = `
async function foreign({ open, memory }, elsewhere) {
  const make = (source) => elsewhere('(' + source + ')');
  const store = await open('foreign', { journal: memory(), restore: undefined });
  const queue = store.queue('mail');
  const tomorrow = make('new Date(Date.now() + 86400000)');
  const [first] = await queue.enqueueMany([
    { payload: make('{ list: [1, { deep: "er" }] }'), options: { runAt: tomorrow } },
  ]);
  const { next } = await store.schedule('once', { at: tomorrow }, { queue: 'mail', payload: 1 });
  const snapshot = await store.snapshot();
  await store.close();
  const bytes = make('(bytes) => Uint8Array.from(bytes)')(snapshot);
  const again = await open('foreign', { journal: memory(), restore: bytes });
  const task = await again.queue('mail').get(first.id);
  const told = [tomorrow instanceof Date, task.runAt === tomorrow.getTime(), next === task.runAt];
  await again.close();
  return [...told, JSON.stringify(task.payload)].join(' ');
}
`;
const FOREIGN_TAKEN = 'false true true {"list":[1,{"deep":"er"}]}';

/** In the runner's words: the default journal of the environment, and values of another realm. */
const CASES = `
${CYCLE}
${FOREIGN}
const { runInNewContext } = require('node:vm');
// What test environments do without, as everybody fills it in.
globalThis.structuredClone ??= (value) => {
  const v8 = require('node:v8');
  return v8.deserialize(v8.serialize(value));
};
test('the cycle', async () => {
  expect(await cycle(fencepost, options)).toBe(${JSON.stringify(CYCLED)});
});
test('values of another realm', async () => {
  expect(await foreign(fencepost, runInNewContext)).toBe(${JSON.stringify(FOREIGN_TAKEN)});
});
test('a module of another realm, and its address', async () => {
  const { readFileSync } = require('node:fs');
  const { memory, open } = fencepost;
  const path = require.resolve('fencepost/engine.wasm');
  const { href } = require('node:url').pathToFileURL(path);
  const context = { bytes: readFileSync(path), URL: require('node:url').URL, href };
  const sources = ['new WebAssembly.Module(bytes)', 'new Uint8Array(bytes).buffer'];
  if (environment === 'node') sources.push('new URL(href)');
  for (const source of sources) {
    const wasm = runInNewContext(source, context);
    const store = await open('module', { journal: memory(), wasm });
    await store.close();
  }
});
test('what is thrown in another realm', async () => {
  const store = await fencepost.open('thrown', { journal: fencepost.memory() });
  const queue = store.queue('mail', { maxAttempts: 1 });
  const { id } = await queue.enqueue(1);
  const worker = queue.work(() => { throw runInNewContext('new TypeError("told")'); });
  await worker.idle();
  expect((await queue.get(id)).lastError).toMatch(/told/);
  await store.close();
});
`;

/** One run for both environments: most of the time of a runner is its start. */
for (const [version, jest, jsdom] of [
  ['29', 'jest-29/bin/jest.js', 'jest-environment-jsdom-29/build/index.js'],
  ['30', 'jest/bin/jest.js', 'jest-environment-jsdom/build/index.js'],
] as const) {
  test(`Jest ${version}, with Node's environment and a browser's: everything works`, async () => {
    const made = project({
      'jest.config.js': `module.exports = { projects: [
        { displayName: 'node', testEnvironment: 'node', testMatch: ['**/node.test.js'],
          transform: {} },
        { displayName: 'jsdom', testEnvironment: ${tool(jsdom)},
          testMatch: ['**/jsdom.test.js'], transform: {} },
      ] };`,
      'node.test.js': `
        const environment = 'node';
        const options = undefined;
        const fencepost = require('fencepost');${CASES}`,
      'jsdom.test.js': `
        const environment = 'jsdom';
        const options = undefined;
        require(${tool('fake-indexeddb/auto/index.js')});
        const fencepost = require('fencepost');${CASES}`,
    });
    const ran = await made.run(process.execPath, [join(TOOLS, jest), '--ci', '--json']);
    assert.equal(JSON.parse(ran).numPassedTests, 8);
  });
}

test('Vitest with a browser of jsdom and its database: everything works', async () => {
  const made = project({
    'vitest.config.mjs': `export default { test: { environment: 'jsdom' } };`,
    'jsdom.test.mjs': `
      import { createRequire } from 'node:module';
      import { expect, test } from ${tool('vitest/dist/index.js')};
      import ${tool('fake-indexeddb/auto/index.mjs')};
      import * as fencepost from 'fencepost';
      import { indexedDb } from 'fencepost/indexeddb';
      const options = { journal: indexedDb() };
      const require = createRequire(import.meta.url);
      const environment = 'jsdom';${CASES}`,
  });
  const ran = await made.run(process.execPath, [
    join(TOOLS, 'vitest/vitest.mjs'),
    'run',
    '--reporter=json',
  ]);
  assert.equal(JSON.parse(ran).numPassedTests, 4);
});

test('an edge sandbox that compiles no bytes is told what to pass, and works with it', async () => {
  const made = project({
    'edge.js': `
      import * as fencepost from 'fencepost';
      ${CYCLE}
      const { memory, open } = fencepost;
      const told = open('told', { journal: memory() }).catch(({ code, message }) => code + message);
      const works = cycle(fencepost, { journal: memory(), wasm: globalThis.wasm });
      globalThis.answers = Promise.all([told, works]);`,
    'host.mjs': `
      import { readFileSync } from 'node:fs';
      import { EdgeVM } from ${tool('@edge-runtime/vm/dist/index.js')};
      const compiled = new WebAssembly.Module(
        readFileSync(new URL(import.meta.resolve('fencepost/engine.wasm'))));
      const vm = new EdgeVM({
        codeGeneration: { strings: false, wasm: false },
        extend: (context) => Object.assign(context, { wasm: compiled }),
      });
      vm.evaluate(readFileSync('edge-bundle.js', 'utf8'));
      for (const answer of await vm.evaluate('answers')) console.log(answer);`,
  });
  await build({
    absWorkingDir: made.path,
    entryPoints: ['edge.js'],
    outfile: 'edge-bundle.js',
    bundle: true,
    format: 'iife',
    // As Next's bundler resolves.
    conditions: ['edge-light', 'worker', 'browser'],
    logLevel: 'error',
  });
  const [told, works] = (await made.run(process.execPath, ['host.mjs'])).split('\n');
  assert.match(told ?? '', /^UNSUPPORTED_HOST.*pass a WebAssembly\.Module as the option wasm/);
  assert.equal(works, CYCLED);
});
