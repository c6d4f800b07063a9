/** `npm run build`: everything that is generated, from nothing; a second time only what changed. */
import { fileURLToPath } from 'node:url';
import { asked } from './asked.mjs';
import { buildEngine } from './engine.mjs';
import { compilePackage } from './package.mjs';
import { installPackages } from './packages.mjs';
import { script } from './step.mjs';
import { chooseToolchain } from './toolchain.mjs';

const HELP = `npm run build

Builds the engine to WebAssembly and the package around it. A second time it builds only
what changed. Takes no options.`;

export async function build() {
  const toolchain = await chooseToolchain();
  await installPackages();
  await buildEngine(toolchain);
  await compilePackage();
  return toolchain;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await script(async () => {
    if (asked(HELP) !== null) await build();
  });
}
