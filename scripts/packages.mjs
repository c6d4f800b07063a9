/** The npm packages of the lock file, installed when they are missing or others than it names. */
import { run } from './command.mjs';
import { onceFor } from './stamp.mjs';
import { step } from './step.mjs';

export async function installPackages() {
  const paths = {
    stamp: 'node_modules/.fencepost-stamp',
    inputs: ['package-lock.json'],
    outputs: ['node_modules'],
  };
  // No package here needs its install script: their programs come inside of packages.
  const install = () => run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit']);
  await step('npm packages', () => onceFor(paths, install));
}
