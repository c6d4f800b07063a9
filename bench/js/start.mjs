/**
 * From the first `open` of a process or page to its first claim: the engine is loaded and compiled,
 * an empty journal is founded, one task is enqueued and claimed. Medians, by the wall clock of the
 * runtime; importing the package is not in them. Run with `--import tsx`.
 */
import { chromium } from '../../tests/js/browser/chromium.ts';
import { firefox } from '../../tests/js/browser/firefox.ts';
import { siteAt, startServer } from '../../tests/js/browser/server.ts';
import { makeProfile, removeProfile } from '../../tests/js/browser/support.ts';
import { webkit } from '../../tests/js/browser/webkit.ts';
import { program, project } from '../../tests/js/packaging/project.ts';
import { ask, startWorker } from '../../tests/js/packaging/worker.ts';

const RUNS = 7;
const DIST = '/node_modules/fencepost/pkg/dist';
/** `await first(open, options)`: milliseconds. */
const FIRST = `
async function first(open, options) {
  const started = performance.now();
  const store = await open('first', options);
  const queue = store.queue('mail');
  await queue.enqueue('first');
  const [task] = await queue.claim('worker');
  const elapsed = performance.now() - started;
  if (task.payload !== 'first') throw new Error('another task was claimed');
  await store.close();
  return elapsed;
}
`;
const MODULE = (entry) => `import { open } from '${entry}';${FIRST}console.log(await first(open));`;
const COMMON_JS = `const { open } = require('fencepost');${FIRST}first(open).then(console.log);`;

function median(values) {
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)];
}

async function repeated(runOnce) {
  const values = [];
  for (let run = 0; run < RUNS; run += 1) values.push(Number(await runOnce(run)));
  return median(values);
}

const inProcess = (file, source, command, ...args) =>
  repeated(() => project({ [file]: source }).run(command, [...args, file]));

async function inWorker() {
  const { path } = project({
    'source.js': `
      import { memory, open } from 'fencepost';
      ${FIRST}
      export default {
        async fetch() {
          await first(open, { journal: memory() });
          return new Response('done');
        },
      };`,
  });
  // A worker's own clock stands still while it computes, so this is a request's time.
  return repeated(async () => {
    const worker = await startWorker(path, 'source.js');
    const started = performance.now();
    await ask(worker, '/');
    const elapsed = performance.now() - started;
    await worker.dispose();
    return elapsed;
  });
}

async function inPage(kind, entry) {
  const { path } = project({
    'index.html': `<!doctype html><script type="module">
      import { open } from '${DIST}/${entry}';
      ${FIRST}
      window.elapsed = first(open).then(String);
    </script>`,
  });
  return repeated(async () => {
    const profile = makeProfile();
    const server = await startServer(siteAt(path, {}));
    const browser = await kind.start(profile);
    const page = await browser.newPage();
    await page.goto(`${server.origin}/`);
    const elapsed = await page.evaluate('window.elapsed');
    await browser.stop();
    await server.close();
    removeProfile(profile);
    return elapsed;
  });
}

const deno = () => program('@deno', 'deno');
const bun = () => program('@oven', 'bin/bun');
const ROWS = [
  ['Node, a module', () => inProcess('a.mjs', MODULE('fencepost'), process.execPath)],
  ['Node, CommonJS', () => inProcess('a.cjs', COMMON_JS, process.execPath)],
  ['Node, inline', () => inProcess('a.mjs', MODULE('fencepost/inline'), process.execPath)],
  ['Deno', () => inProcess('a.mjs', MODULE('fencepost'), deno(), 'run', '-A', '--quiet')],
  ['Bun', () => inProcess('a.mjs', MODULE('fencepost'), bun())],
  ['workerd, in memory', inWorker],
  ...[chromium, firefox, webkit].flatMap((kind) => [
    [`${kind.name}, inline`, () => inPage(kind, 'inline.js')],
    [`${kind.name}, slim`, () => inPage(kind, 'entry/slim.js')],
  ]),
];

console.log(`first open to first claim, median of ${RUNS}`);
for (const [name, measure] of ROWS) {
  console.log(`  ${name.padEnd(20)} ${(await measure()).toFixed(0).padStart(6)} ms`);
}
