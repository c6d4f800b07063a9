/** `npm run bench`: builds what is measured, then measures it. */
import { fileURLToPath } from 'node:url';
import { asked } from './asked.mjs';
import { installBrowsers } from './browsers.mjs';
import { build } from './build.mjs';
import { runTests } from './command.mjs';
import { buildBench } from './engine.mjs';
import { installPackagingTools } from './packed.mjs';
import { script, step } from './step.mjs';

const HELP = `npm run bench [-- GROUP …]

Builds what is measured, then measures.

  engine    what operations cost, as ratios within one run
  latency   from an enqueue to its handler, in Node and in browsers
  start     how long an import and an open take, in every runtime and browser

Without a group: engine.`;

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
  const named = asked(HELP, { groups: Object.keys(GROUPS) })?.groups;
  if (named === undefined) return;
  const toolchain = await build();
  for (const name of named.length > 0 ? named : ['engine']) await GROUPS[name](toolchain);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(bench);
