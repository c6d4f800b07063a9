/** The installed package in Node, Deno and Bun, with the journal that each chooses itself. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CYCLE, CYCLED, cycled } from './cycle.js';
import { engineFile, enginesIn, type Project, program, project } from './project.js';

/** With the default journal, then with each of its own. */
const USE_EVERY_ENTRY = `
${CYCLE}
(async () => {
  console.log(await cycle(fencepost));
  console.log(await cycle(inline, { journal: file('inline') }));
  console.log(await cycle(slim, { journal: faulty(fencepost.memory()), clock: virtualClock() }));
  const engine = await Engine.load();
  const { id } = engine.queueEnqueue({ queue: 'mail', payload: new Uint8Array(1) }, 0);
  console.log(id, typeof indexedDb);
})();
`;
const PRINTED = `${cycled(3)}\n1 function`;

/** Every entry that such a runtime is for. */
const MODULE = `
import * as fencepost from 'fencepost';
import * as inline from 'fencepost/inline';
import * as slim from 'fencepost/slim';
import { file } from 'fencepost/file';
import { Engine } from 'fencepost/engine';
import { indexedDb } from 'fencepost/indexeddb';
import { faulty, virtualClock } from 'fencepost/testing';
${USE_EVERY_ENTRY}`;

const COMMON_JS = `
const fencepost = require('fencepost');
const inline = require('fencepost/inline');
const slim = require('fencepost/slim');
const { file } = require('fencepost/file');
const { Engine } = require('fencepost/engine');
const { indexedDb } = require('fencepost/indexeddb');
const { faulty, virtualClock } = require('fencepost/testing');
${USE_EVERY_ENTRY}`;

/** The two stores on disk, and nothing else, are what the program has left. */
function requireStores({ path }: Project): void {
  assert.deepEqual(readdirSync(join(path, '.fencepost')), ['packaged']);
  assert.ok(existsSync(join(path, 'inline', 'journal')));
}

for (const [form, name, text] of [
  ['a module', 'program.mjs', MODULE],
  ['CommonJS', 'program.cjs', COMMON_JS],
] as const) {
  test(`Node: every entry as ${form}`, async () => {
    const made = project({ [name]: text });
    assert.equal(await made.run(process.execPath, [name]), PRINTED);
    requireStores(made);
  });

  test(`Bun: every entry as ${form}`, async () => {
    const made = project({ [name]: text });
    assert.equal(await made.run(program('@oven', 'bin/bun'), [name]), PRINTED);
    requireStores(made);
  });
}

test('Node: an error of the one form is an error of the other, and so are its kinds', async () => {
  const made = project({
    'program.mjs': `
      import { createRequire } from 'node:module';
      import * as modules from 'fencepost';
      import * as page from './node_modules/fencepost/pkg/dist/inline.js';
      const common = createRequire(import.meta.url)('fencepost');
      const { file } = createRequire(import.meta.url)('fencepost/file');
      const copies = [modules, common, page];
      for (const { FencepostError, LeaseLost, Stopped, NonRetriable, RetryAfter } of copies) {
        for (const other of copies) {
          const lost = new other.LeaseLost();
          console.log(
            lost instanceof LeaseLost, lost instanceof FencepostError,
            new other.NonRetriable() instanceof NonRetriable,
            new other.RetryAfter(1) instanceof RetryAfter,
            lost instanceof Stopped, new Error() instanceof FencepostError,
            {} instanceof LeaseLost, null instanceof FencepostError,
          );
        }
        class Own extends FencepostError {}
        const own = new Own('STOPPED', 'own');
        console.log(own instanceof Own, own instanceof modules.FencepostError,
          new modules.Stopped() instanceof Own);
      }
      const store = await modules.open('mixed', { journal: file('mixed') });
      const error = await modules.open('mixed', { journal: file('mixed') }).catch((it) => it);
      console.log(error instanceof modules.FencepostError, error.code);
      await store.close();`,
  });
  const across = 'true true true true false false false false\n';
  const derived = 'true true false\n';
  const expected = `${across.repeat(3)}${derived}`.repeat(3);
  const printed = await made.run(process.execPath, ['program.mjs']);
  assert.equal(printed, `${expected}true JOURNAL_LOCKED`);
});

test('Node: one module and one compilation serve every store and every entry', async () => {
  const made = project({
    'program.mjs': `
      let compiled = 0;
      const { compile } = WebAssembly;
      WebAssembly.compile = (bytes) => (compiled++, compile(bytes));
      const { open, memory } = await import('fencepost');
      const { Engine } = await import('fencepost/engine');
      console.log(compiled);
      const open1 = () => open('one', { journal: memory() });
      const stores = await Promise.all([open1(), open1(), Engine.load(), open1()]);
      console.log(stores.length, compiled);`,
  });
  assert.equal(await made.run(process.execPath, ['program.mjs']), '0\n4 1');
});

for (const [runtime, command] of [
  ['Node', () => process.execPath],
  ['Bun', () => program('@oven', 'bin/bun')],
] as const) {
  test(`${runtime}: the engine read is the fast one, the inlined the small one`, async () => {
    const told = (load: string) => `
      const compiled = [];
      const { compile } = WebAssembly;
      WebAssembly.compile = (bytes) => (compiled.push(bytes.length), compile(bytes));
      (async () => {
        for (const entry of ['fencepost', 'fencepost/slim', 'fencepost/inline']) {
          const { open, memory } = await ${load}(entry);
          await (await open('compiled', { journal: memory() })).close();
        }
        console.log(compiled.join(' '));
      })();`;
    const made = project({ 'program.mjs': told('import'), 'program.cjs': told('require') });
    const files = [engineFile(made, 'fencepost_fast.wasm'), engineFile(made, 'fencepost_bg.wasm')];
    const sizes = files.map((bytes) => bytes.length);
    for (const name of ['program.mjs', 'program.cjs']) {
      const compiled = (await made.run(command(), [name])).split(' ').map(Number);
      // Node compiles a parser of its own for the inlined one's stream.
      const engines = compiled.filter((size) => sizes.includes(size));
      assert.deepEqual(engines, sizes, name);
    }
  });
}

test('Deno: every entry, with leave to use its folder and nothing else', async () => {
  const made = project({ 'program.mjs': MODULE });
  const permissions = ['--allow-read=.', '--allow-write=.fencepost,inline', '--no-prompt'];
  const deno = program('@deno', 'deno');
  const printed = await made.run(deno, ['run', '--quiet', ...permissions, 'program.mjs']);
  assert.equal(printed, PRINTED);
  requireStores(made);
});

test('Deno: a store in memory asks for no permission', async () => {
  const made = project({
    'program.mjs': `
      import * as fencepost from 'fencepost';
      ${CYCLE}
      console.log(await cycle(fencepost, { journal: fencepost.memory() }));`,
  });
  const deno = program('@deno', 'deno');
  assert.equal(await made.run(deno, ['run', '--quiet', '--no-prompt', 'program.mjs']), CYCLED);
});

test('Bun: its bundler takes the fast engine along, and no other', async () => {
  const made = project({
    'program.mjs': `
      import * as fencepost from 'fencepost';
      ${CYCLE}
      console.log(await cycle(fencepost));`,
  });
  const bun = program('@oven', 'bin/bun');
  await made.run(bun, ['build', '--target=bun', '--outdir=built', 'program.mjs']);
  const moved = project({});
  const built = join(made.path, 'built');
  assert.deepEqual(enginesIn(built), [engineFile(made, 'fencepost_fast.wasm')]);
  assert.equal(await moved.run(bun, [join(built, 'program.js')]), CYCLED);
});

const DEAD_HOLDER = {
  'dies.mjs': `
    import { open } from 'fencepost';
    const store = await open('packaged');
    await store.queue('mail').enqueue('kept');
    process.exit(0);`,
  'follows.mjs': `
    import { open } from 'fencepost';
    const store = await open('packaged');
    const [task] = await store.queue('mail').claim('worker');
    console.log(task.payload);
    await store.close();`,
};

const DENO = ['run', '--quiet', '--no-prompt', '--allow-read=.', '--allow-write=.fencepost'];

test('Deno: a holder that died is no hindrance', async () => {
  const made = project(DEAD_HOLDER);
  // A container's file system is told from a shared one by its type.
  const leave = ['--allow-sys=statfs'];
  const run = (script: string) => made.run(program('@deno', 'deno'), [...DENO, ...leave, script]);
  await run('dies.mjs');
  assert.equal(await run('follows.mjs'), 'kept');
});

test('Deno: a holder that may live elsewhere is told, and the lock to delete', async () => {
  const made = project(DEAD_HOLDER);
  const run = (script: string) => made.run(program('@deno', 'deno'), [...DENO, script]);
  await run('dies.mjs');
  const lock = join(made.path, '.fencepost/packaged/lock.1');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace('"local":true', '"local":false'));
  await assert.rejects(run('follows.mjs'), /the journal is held by .* delete ".*lock\.1"/);
  rmSync(lock);
  assert.equal(await run('follows.mjs'), 'kept');
});

const THREAD = {
  'thread.mjs': `
    import { parentPort } from 'node:worker_threads';
    import { open } from 'fencepost';
    const store = await open('packaged');
    await store.queue('mail').enqueue('kept');
    parentPort.postMessage('open');
    setInterval(() => {}, 1e9);`,
  'main.mjs': `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    import { open } from 'fencepost';
    import { file } from 'fencepost/file';
    const thread = new Worker(new URL('./thread.mjs', import.meta.url));
    await once(thread, 'message');
    console.log(await open('packaged').catch(({ code }) => code));
    await thread.terminate();
    const store = await open('packaged', { journal: file(undefined, { lockWait: Infinity }) });
    const [task] = await store.queue('mail').claim('worker');
    console.log(task.payload);
    await store.close();
    process.exit(0);`,
};

for (const [runtime, command] of [
  ['Node', () => [process.execPath]],
  ['Bun', () => [program('@oven', 'bin/bun')]],
  ['Deno', () => [program('@deno', 'deno'), ...DENO, '--allow-sys=statfs']],
] as const) {
  test(`${runtime}: a terminated thread holds no lock`, async () => {
    const made = project(THREAD);
    const [runs = '', ...rest] = command();
    assert.equal(await made.run(runs, [...rest, 'main.mjs']), 'JOURNAL_LOCKED\nkept');
  });
}

for (const version of ['20', '22', '24']) {
  test(`Node ${version}: a store on disk under the permission model`, async () => {
    const made = project({
      'program.mjs': `
      import * as fencepost from 'fencepost';
      ${CYCLE}
      console.log(await cycle(fencepost));`,
    });
    const flag = version === '20' ? '--experimental-permission' : '--permission';
    const leave = [`--allow-fs-read=${made.path}`, `--allow-fs-write=${made.path}/.fencepost/*`];
    const node = program(`@node-${version}`, 'bin/node');
    assert.equal(await made.run(node, [flag, '--no-warnings', ...leave, 'program.mjs']), CYCLED);
  });
}

test('Bun: a holder that died is no hindrance', async () => {
  const made = project(DEAD_HOLDER);
  const bun = program('@oven', 'bin/bun');
  await made.run(bun, ['dies.mjs']);
  assert.equal(await made.run(bun, ['follows.mjs']), 'kept');
});
