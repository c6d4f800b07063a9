/**
 * One contender of the measured cycle, in a process of its own, so that no other one's heap is
 * collected at its cost and no other one's calls spoil its compiled code. A line on its input with
 * a number of cycles runs so many; it answers with the nanoseconds of CPU that each took.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Engine } from '../../pkg/dist/entry/node-engine.js';
import { BaselineEngine } from './baseline.mjs';

const START = 1_700_000_000_000;
const BATCH = 100;
const payload = new Uint8Array(200).fill(120);
const out = (name) => new URL(`../out/${name}`, import.meta.url);

const room = new Uint8Array(64 << 10);

/** Without `into`, the entry is a buffer of its own. */
function commit(engine, into) {
  const entry = engine.takeEntry(into);
  engine.merge(entry);
  return entry.length;
}

async function oneByOne(into) {
  const engine = await Engine.load({ seed: 1n });
  let serial = 0;
  return (cycles) => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const now = START + ++serial;
      engine.queueEnqueue({ queue: 'work', payload, key: `key-${serial}` }, now);
      commit(engine, into);
      const [task] = engine.queueClaim({ queue: 'work', owner: 'worker' }, now);
      commit(engine, into);
      engine.queueComplete({ queue: 'work', id: task.id, token: task.token }, now);
      commit(engine, into);
    }
  };
}

function baseline(into) {
  const engine = new BaselineEngine();
  let serial = 0;
  return (cycles) => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const now = START + ++serial;
      engine.enqueue({ payload, key: `key-${serial}` }, now);
      commit(engine, into);
      const [task] = engine.claim({ owner: 'worker' }, now);
      commit(engine, into);
      engine.complete({ id: task.id, token: task.token }, now);
      commit(engine, into);
    }
  };
}

const contenders = {
  single: () => oneByOne(room),
  'single-own': () => oneByOne(),
  baseline: () => baseline(room),
  'baseline-own': () => baseline(),

  async batches() {
    const engine = await Engine.load({ seed: 1n });
    let serial = 0;
    return (cycles) => {
      for (let batch = 0; batch < cycles / BATCH; batch++) {
        const now = START + serial;
        for (let item = 0; item < BATCH; item++) {
          engine.queueEnqueue({ queue: 'work', payload, key: `key-${++serial}` }, now);
        }
        commit(engine, room);
        const tasks = engine.queueClaim({ queue: 'work', owner: 'worker', max: BATCH }, now);
        commit(engine, room);
        for (const { id, token } of tasks) engine.queueComplete({ queue: 'work', id, token }, now);
        commit(engine, room);
      }
    };
  },

  async inside() {
    const { instantiate } = await import(out('fencepost.js'));
    const inside = instantiate(
      new WebAssembly.Module(readFileSync(out('fencepost_bg.wasm'))),
      globalThis,
    );
    const core = new inside.Core();
    return (cycles) => core.cycles(cycles);
  },
};

const run = await contenders[process.argv[2]]();
for await (const line of createInterface({ input: process.stdin })) {
  const cycles = Number(line);
  const start = process.cpuUsage();
  run(cycles);
  const { user, system } = process.cpuUsage(start);
  console.log(((user + system) * 1_000) / cycles);
}
