/**
 * `npm run bench [-- GROUP …]`: builds what is measured, then measures: `engine` (the default) in
 * ratios within one run, `latency` from an enqueue to its handler, `start` in every runtime and
 * browser.
 */
import { fileURLToPath } from 'node:url';
import { installBrowsers } from './browsers.mjs';
import { build } from './build.mjs';
import { Failure, runTests } from './command.mjs';
import { buildBench } from './engine.mjs';
import { installPackagingTools } from './packed.mjs';
import { script, step } from './step.mjs';

const GROUPS = {
  async engine(toolchain) {
    await buildBench(toolchain);
    await runTests('node', ['bench/js/cycle.mjs']);
    await runTests('node', ['bench/js/costs.mjs']);
  },
  async latency() {
    await installBrowsers();
    await runTests('node', ['--import', 'tsx', 'bench/js/latency.mjs']);
  },
  async start() {
    await installBrowsers();
    await step('runtimes and bundlers', installPackagingTools);
    await runTests('node', ['--import', 'tsx', 'bench/js/start.mjs']);
  },
};

async function bench() {
  const asked = process.argv.length > 2 ? process.argv.slice(2) : ['engine'];
  const unknown = asked.find((name) => !Object.hasOwn(GROUPS, name));
  if (unknown !== undefined) {
    throw new Failure(`There is no group ${unknown}, but ${Object.keys(GROUPS).join(' and ')}.`);
  }
  const toolchain = await build();
  for (const name of asked) await GROUPS[name](toolchain);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(bench);
