/** The file for pages, in realms that have nothing but what they are given. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';

const SCRIPT = readFileSync(new URL('../../../pkg/dist/script.js', import.meta.url), 'utf8');
const GLOBALS = [
  'AbortController',
  'Blob',
  'BroadcastChannel',
  'DecompressionStream',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'atob',
  'clearTimeout',
  'crypto',
  'fetch',
  'performance',
  'queueMicrotask',
  'setTimeout',
] as const;

/** What is done without. */
const SPARED = ['Blob', 'BroadcastChannel', 'Response', 'URL', 'fetch', 'performance'];
/** What is needed, and told by name. */
const NEEDED = [
  'AbortController',
  'DecompressionStream',
  'TextDecoder',
  'TextEncoder',
  'atob',
  'crypto',
];

const USE = `
(async () => {
  const { memory, open } = fencepost;
  try {
    const store = await open('hosted', { journal: memory() });
    const queue = store.queue('mail');
    await queue.enqueue('hello');
    let payload;
    const worker = queue.work((task) => { payload = task.payload; });
    await worker.idle();
    await store.close();
    return payload;
  } catch (error) {
    return [error.code, error.details.missing].join(' ');
  }
})()`;

/** What it comes to in a realm of its own that has these globals, and lacks some. */
function used(missing: readonly string[]): Promise<string> {
  const names = GLOBALS.filter((name) => !missing.includes(name));
  const context = createContext(Object.fromEntries(names.map((name) => [name, globalThis[name]])));
  if (missing.includes('WebAssembly')) runInContext('delete globalThis.WebAssembly', context);
  runInContext(SCRIPT, context);
  return runInContext(USE, context);
}

test('what a host lacks is done without, or told by name when it is needed', async () => {
  assert.equal(await used([]), 'hello');
  assert.equal(await used(SPARED), 'hello');
  for (const missing of [...NEEDED, 'WebAssembly']) {
    assert.equal(await used([missing]), `UNSUPPORTED_HOST ${missing}`, missing);
  }
});
