/** Where the engine comes from: everything that the option `wasm` takes, and what else arrives. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { type FencepostError, memory, open, type WasmSource } from 'fencepost';
import { Engine } from 'fencepost/engine';
import { rejects } from './support.js';

const FILE = new URL('../../../pkg/wasm/fencepost_bg.wasm', import.meta.url);
const BYTES = new Uint8Array(readFileSync(FILE));
const HTML = '<!doctype html><title>the page of a single-page application</title>';

const server = createServer(({ url }, response) => {
  if (url === '/engine.wasm') response.end(BYTES);
  else if (url === '/page') response.end(HTML);
  else response.writeHead(404).end('nothing here');
});
let origin = '';
before(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

async function opens(wasm: unknown): Promise<void> {
  const store = await open('sourced', { journal: memory(), wasm: wasm as WasmSource });
  assert.equal((await store.queue('mail').enqueue(1)).id, 1);
  await store.close();
}

async function refusal(wasm: unknown): Promise<FencepostError> {
  const error = await rejects(opens(wasm), 'INVALID_ARGUMENT');
  assert.equal(error.details.argument, 'wasm');
  return error;
}

test('the engine may be a module, bytes, a URL, a response or the promise of one', async () => {
  const module = await WebAssembly.compile(BYTES);
  const padded = new Uint8Array(BYTES.length + 8);
  padded.set(BYTES, 8);
  const sources = [
    module,
    BYTES,
    BYTES.buffer,
    padded.subarray(8),
    new DataView(padded.buffer, 8),
    FILE,
    new URL(`${origin}/engine.wasm`),
    new Response(BYTES),
    fetch(`${origin}/engine.wasm`),
  ];
  for (const source of sources) await opens(source);
  const engine = await Engine.load({ wasm: module });
  assert.equal(engine.queueEnqueue({ queue: 'q', payload: new Uint8Array() }, 0).id, 1);
});

test('bytes of another realm are bytes', async () => {
  const foreign = runInNewContext('new Uint8Array(size)', { size: BYTES.length }) as Uint8Array;
  foreign.set(BYTES);
  await opens(foreign.buffer);
});

test('a page instead of the engine is told with its address and how it begins', async () => {
  for (const wasm of [new URL(`${origin}/page`), fetch(`${origin}/page`)]) {
    const { message, details } = await refusal(wasm);
    assert.equal(details.from, `${origin}/page`);
    assert.ok(message.includes(`WebAssembly at ${origin}/page`), message);
    assert.ok(message.includes('bytes that begin with "<!doctype html>'), message);
  }
});

test('an engine that is not there is told with its address and why', async () => {
  const missing = await refusal(new URL(`${origin}/nowhere`));
  assert.match(missing.message, /\/nowhere, got HTTP status 404$/);
  const noFile = await refusal(new URL('./no-such.wasm', FILE));
  assert.match(noFile.message, /no-such\.wasm, got ENOENT/);
  const rejected = (async () => {
    throw new Error('the network is down');
  })();
  assert.match((await refusal(rejected)).message, /the given promise, got the network is down$/);
});

test('what is no engine is refused by name, never by a TypeError', async () => {
  const wrong: [unknown, RegExp][] = [
    [null, /expected a WebAssembly\.Module, bytes, .* got null$/],
    ['engine.wasm', /got "engine\.wasm"$/],
    [1, /got 1$/],
    [{}, /got an object$/],
    [Promise.resolve(1), /got a promise of 1$/],
    [new Uint8Array(), /got no bytes$/],
    [BYTES.subarray(0, 1_000), /the given bytes that compiles here, got /],
    [new WebAssembly.Module(BYTES.subarray(0, 8)), /this very version of the package, got another/],
  ];
  for (const [wasm, message] of wrong) assert.match((await refusal(wasm)).message, message);
});

test('a failure is not remembered: the next one who opens tries again', async () => {
  await refusal(new URL(`${origin}/nowhere`));
  await (await open('sourced', { journal: memory() })).close();
});
