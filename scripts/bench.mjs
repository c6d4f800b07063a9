/** `npm run bench`: builds what is measured, then measures. Numbers are ratios within one run. */
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { runTests } from './command.mjs';
import { buildBench } from './engine.mjs';
import { script } from './step.mjs';

async function bench() {
  await buildBench(await build());
  await runTests('node', ['bench/js/cycle.mjs']);
  await runTests('node', ['bench/js/costs.mjs']);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(bench);
