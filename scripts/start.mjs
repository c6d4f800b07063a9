/** `npm start`: builds what is missing, then runs the main example with the arguments given. */
import { fileURLToPath } from 'node:url';
import { UsageError } from '../examples/deliver/failures.mjs';
import { HELP, parseOptions } from '../examples/deliver/options.mjs';
import { build } from './build.mjs';
import { Misuse } from './command.mjs';
import { script } from './step.mjs';

// Nobody waits for a build to be told what can be asked.
await script(async () => {
  if (isHelp()) process.stdout.write(HELP);
  else await start();
});

function isHelp() {
  try {
    return parseOptions(process.argv.slice(2)).help;
  } catch (error) {
    if (error instanceof UsageError) throw new Misuse(error.message);
    throw error;
  }
}

async function start() {
  await build();
  console.log();
  // In this very process: to end it is to end the example, whatever the signal was.
  const example = new URL('../examples/deliver/main.mjs', import.meta.url);
  process.argv[1] = fileURLToPath(example);
  await import(example);
}
