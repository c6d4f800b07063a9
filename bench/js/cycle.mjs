/**
 * The cycle from JavaScript: one by one and in batches of 100 through the raw engine, inside
 * WebAssembly without a crossing, and on the baseline. By CPU time, as ratios within this run.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Engine } from '../../pkg/dist/entry/node-engine.js';
import { BaselineEngine } from './baseline.mjs';

const CYCLES = 50_000;
const REPEATS = 9;
const START = 1_700_000_000_000;
const payload = new Uint8Array(200).fill(120);
const out = (name) => new URL(`../out/${name}`, import.meta.url);

function commit(engine) {
  const entry = engine.takeEntry();
  engine.merge(entry);
  return entry.length;
}

function oneByOne(engine) {
  let serial = 0;
  return (cycles) => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const now = START + ++serial;
      engine.queueEnqueue({ queue: 'work', payload, key: `key-${serial}` }, now);
      commit(engine);
      const [task] = engine.queueClaim({ queue: 'work', owner: 'worker' }, now);
      commit(engine);
      engine.queueComplete({ queue: 'work', id: task.id, token: task.token }, now);
      commit(engine);
    }
  };
}

function inBatches(engine) {
  const size = 100;
  let serial = 0;
  return (cycles) => {
    for (let batch = 0; batch < cycles / size; batch++) {
      const now = START + serial;
      for (let item = 0; item < size; item++) {
        engine.queueEnqueue({ queue: 'work', payload, key: `key-${++serial}` }, now);
      }
      commit(engine);
      const tasks = engine.queueClaim({ queue: 'work', owner: 'worker', max: size }, now);
      commit(engine);
      for (const { id, token } of tasks) engine.queueComplete({ queue: 'work', id, token }, now);
      commit(engine);
    }
  };
}

function onBaseline(engine) {
  let serial = 0;
  return (cycles) => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const now = START + ++serial;
      engine.enqueue({ payload, key: `key-${serial}` }, now);
      commit(engine);
      const [task] = engine.claim({ owner: 'worker' }, now);
      commit(engine);
      engine.complete({ id: task.id, token: task.token }, now);
      commit(engine);
    }
  };
}

/** The contenders take turns, so that a busy machine slows all of them. */
function measure(contenders) {
  for (const [, run] of contenders) run(CYCLES / 5);
  const times = new Map(contenders.map(([name]) => [name, []]));
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [name, run] of contenders) {
      const start = process.cpuUsage();
      run(CYCLES);
      const { user, system } = process.cpuUsage(start);
      times.get(name).push(((user + system) * 1_000) / CYCLES);
    }
  }
  return new Map([...times].map(([name, all]) => [name, all.sort((a, b) => a - b)[REPEATS >> 1]]));
}

const { instantiate } = await import(out('fencepost.js'));
const inside = instantiate(new WebAssembly.Module(readFileSync(out('fencepost_bg.wasm'))));
const core = new inside.Core();
const measured = measure([
  ['raw engine, one by one', oneByOne(await Engine.load({ seed: 1n }))],
  ['raw engine, batches of 100', inBatches(await Engine.load({ seed: 1n }))],
  ['plain JavaScript baseline', onBaseline(new BaselineEngine())],
  ['inside WebAssembly', (cycles) => core.cycles(cycles)],
]);
const native = fileURLToPath(new URL('../../target/release/fencepost-bench', import.meta.url));
measured.set(
  'native Rust',
  JSON.parse(execFileSync(native, ['cycle'], { encoding: 'utf8' })).native,
);

const baseline = measured.get('plain JavaScript baseline');
console.log('enqueue, claim, complete; 200-byte payload, unique key, three entries; CPU time');
for (const [name, each] of measured) {
  const [peer, rust] = [baseline / each, measured.get('native Rust') / each];
  const ratios = `${peer.toFixed(2)}x baseline  ${rust.toFixed(2)} of native`;
  console.log(`${name.padEnd(28)} ${(each / 1_000).toFixed(2).padStart(7)} us  ${ratios}`);
}
