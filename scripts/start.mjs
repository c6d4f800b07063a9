/** `npm start`: builds what is missing, then runs the main example with the arguments given. */
import { fileURLToPath } from 'node:url';
import { HELP } from '../examples/deliver/options.mjs';
import { build } from './build.mjs';
import { script } from './step.mjs';

// Nobody waits for a build to be told what can be asked.
if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else {
  await script(build);
  console.log();
  // In this very process: to end it is to end the example, whatever the signal was.
  const example = new URL('../examples/deliver/main.mjs', import.meta.url);
  process.argv[1] = fileURLToPath(example);
  await import(example);
}
