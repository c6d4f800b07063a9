/** A step of a script: one headline with the time it took, and its output only when it fails. */
import { Failure, Misuse } from './command.mjs';
import { UNCHANGED } from './stamp.mjs';

const TITLE_COLUMNS = 44;

/**
 * Does quiet work under a headline.
 *
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work May resolve with `UNCHANGED`.
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  process.stdout.write(`${title} `.padEnd(TITLE_COLUMNS, '.'));
  const started_ms = performance.now();
  try {
    const result = await work();
    console.log(` ${result === UNCHANGED ? UNCHANGED : elapsed(started_ms)}`);
    return result;
  } catch (error) {
    console.log(` failed after ${elapsed(started_ms)}`);
    throw error;
  }
}

/**
 * Runs a test runner under a headline. The runner's own closing lines are its result.
 *
 * @param {string} title
 * @param {() => Promise<void>} work
 */
export async function testStep(title, work) {
  console.log(`${title} `.padEnd(TITLE_COLUMNS, '.'));
  await work();
}

/**
 * The body of a script: failures are printed for a person and end it with 1, a wrong command line
 * with 2.
 *
 * @param {() => Promise<void>} body
 */
export async function script(body) {
  try {
    await body();
  } catch (error) {
    if (error instanceof Misuse) {
      console.error(`${error.message} (--help tells what there is)`);
      process.exit(2);
    }
    if (!(error instanceof Failure)) throw error;
    console.error(`\n${error.message}`);
    process.exit(1);
  }
}

function elapsed(started_ms) {
  return `${((performance.now() - started_ms) / 1000).toFixed(1)} s`;
}
