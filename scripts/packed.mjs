/**
 * The package as somebody else gets it: packed once, then installed by npm into an empty project.
 * The tests in `tests/js/packaging/` start from there.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './command.mjs';
import { onceFor } from './stamp.mjs';
import { script } from './step.mjs';

const FOLDER = 'target/packed';
const BUILT = ['pkg/dist', 'pkg/cjs', 'pkg/wasm', 'pkg/NOTICES.txt'];
const TOOLS = 'tests/js/packaging';

/** Packs what was built, and installs it, unless it is the same as before. */
export function pack() {
  const paths = {
    stamp: `${FOLDER}/stamp`,
    inputs: [...BUILT, 'package.json', 'README.md', 'scripts/packed.mjs'],
    outputs: [`${FOLDER}/project/node_modules/fencepost`],
  };
  return onceFor(paths, async () => {
    rmSync(join(ROOT, FOLDER), { recursive: true, force: true });
    const project = join(ROOT, FOLDER, 'project');
    mkdirSync(project, { recursive: true });
    const listed = await run('npm', ['pack', '--json', '--pack-destination', FOLDER]);
    writeFileSync(join(ROOT, FOLDER, 'pack.json'), listed);
    const [{ filename }] = JSON.parse(listed);
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
    const install = [
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      join(ROOT, FOLDER, filename),
    ];
    await run('npm', [...install, '--prefix', project]);
  });
}

/** The runtimes and bundlers, which nobody else needs. */
export function installPackagingTools() {
  const paths = {
    stamp: `${TOOLS}/node_modules/.fencepost-stamp`,
    inputs: [`${TOOLS}/package-lock.json`],
    outputs: [`${TOOLS}/node_modules`],
  };
  // The programs come in packages of their own, one for each system; no install script has to run.
  const install = ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--prefix', TOOLS];
  return onceFor(paths, () => run('npm', install));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(pack);
