/**
 * The cycle from JavaScript: one by one and in batches of 100 through the raw engine, inside
 * WebAssembly without a crossing, natively, and on the baseline. Entries are written where the
 * host wants them, or get buffers of their own. By CPU time, as ratios within this run: the
 * contenders take turns, so that a busy machine slows all of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CYCLES = 10_000;
const WARM_UP_TURNS = 3;
const TURNS = 45;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const inNode = (name) => [process.execPath, [path('contenders.mjs'), name]];

const NATIVE = 'native Rust';
const BASELINE = 'plain JavaScript baseline';
const BASELINE_OWN = `${BASELINE}, own buffers`;

/** Each with the baseline that hands out its entries in the same way. */
const contenders = [
  ['raw engine, one by one', BASELINE, ...inNode('single')],
  ['raw engine, one by one, own buffers', BASELINE_OWN, ...inNode('single-own')],
  ['raw engine, batches of 100', BASELINE, ...inNode('batches')],
  [BASELINE, BASELINE, ...inNode('baseline')],
  [BASELINE_OWN, BASELINE_OWN, ...inNode('baseline-own')],
  ['inside WebAssembly', BASELINE, ...inNode('inside')],
  [NATIVE, BASELINE, path('../../target/release/fencepost-bench'), ['cycle']],
].map(([name, peer, program, args]) => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.once('exit', (code) => {
    if (code !== 0 || !isOver) throw new Error(`${name} ended early, with ${code}`);
  });
  return { name, peer, child, lines: createInterface({ input: child.stdout }), times: [] };
});

let isOver = false;
for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
  for (const { child, lines, times } of contenders) {
    child.stdin.write(`${CYCLES}\n`);
    const [line] = await once(lines, 'line');
    if (turn >= WARM_UP_TURNS) times.push(Number(line));
  }
}
isOver = true;
for (const { child } of contenders) child.stdin.end();

const median = (times) => [...times].sort((one, other) => one - other)[times.length >> 1];
const measured = new Map(contenders.map(({ name, times }) => [name, median(times)]));
console.log('enqueue, claim, complete; 200-byte payload, unique key, three entries; CPU time');
for (const { name, peer } of contenders) {
  const each = measured.get(name);
  const ofPeer = (measured.get(peer) / each).toFixed(2);
  const ofNative = (measured.get(NATIVE) / each).toFixed(2);
  const time = `${(each / 1_000).toFixed(2).padStart(7)} us`;
  console.log(`${name.padEnd(40)} ${time}  ${ofPeer}x baseline  ${ofNative} of native`);
}
