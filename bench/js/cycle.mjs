/**
 * The cycle from JavaScript: one by one and in batches of 100 through the raw engine, inside
 * WebAssembly without a crossing, natively, and on the baseline. By CPU time, as ratios within this
 * run: the contenders take turns, so that a busy machine slows all of them.
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

const contenders = [
  ['raw engine, one by one', ...inNode('single')],
  ['raw engine, batches of 100', ...inNode('batches')],
  ['plain JavaScript baseline', ...inNode('baseline')],
  ['inside WebAssembly', ...inNode('inside')],
  ['native Rust', path('../../target/release/fencepost-bench'), ['cycle']],
].map(([name, program, args]) => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
  });
  return { name, child, lines: createInterface({ input: child.stdout }), times: [] };
});

for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
  for (const { child, lines, times } of contenders) {
    child.stdin.write(`${CYCLES}\n`);
    const [line] = await once(lines, 'line');
    if (turn >= WARM_UP_TURNS) times.push(Number(line));
  }
}
for (const { child } of contenders) child.stdin.end();

const median = (times) => [...times].sort((one, other) => one - other)[times.length >> 1];
const measured = new Map(contenders.map(({ name, times }) => [name, median(times)]));
console.log('enqueue, claim, complete; 200-byte payload, unique key, three entries; CPU time');
for (const [name, each] of measured) {
  const peer = measured.get('plain JavaScript baseline') / each;
  const rust = measured.get('native Rust') / each;
  const ratios = `${peer.toFixed(2)}x baseline  ${rust.toFixed(2)} of native`;
  console.log(`${name.padEnd(28)} ${(each / 1_000).toFixed(2).padStart(7)} us  ${ratios}`);
}
