// @ts-check
/** What can be said on the command line. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UsageError } from './failures.mjs';

const REQUESTS = fileURLToPath(new URL('./requests.jsonl', import.meta.url));

export const HELP = `Usage: npm start -- [options]
   or: node examples/deliver/main.mjs [options]

Delivers a few hundred recorded HTTP requests through a durable queue to a server
that answers like a bad network, and checks the outcome against that server's record.

A run that was interrupted, even by SIGKILL, goes on where it was. When the last run
had finished, a new one is started in its place.

Once in every run the worker process is killed in the middle of its work, and a zombie
comes late: a worker that slept until others had done its task. The table counts both.

  --dir <path>          where the run is kept          (default ./.fencepost/deliver)
  --requests <file>     the requests, JSON lines       (default ${relative('.', REQUESTS)})
  --concurrency <n>     requests at a time, 1 to 100   (default 8)
  --seed <n>            of the network's mischief      (default 1, or the interrupted run's)
  --calm                kill no worker and let no zombie come
  --fresh               start over, whatever is there
  --resume              never start over: go on, or show the finished run again
  --quiet               no progress, only the table
  --help                this text

Exit code: 0 all settled and the server's record agrees; 1 it does not, or the run
failed; 2 the command line or its files are wrong; 130 or 143 stopped by a signal.
`;

/**
 * @typedef {object} Options
 * @property {string} dir
 * @property {string} requests
 * @property {number} concurrency
 * @property {number} [seed] absent: the interrupted run's, else the default
 * @property {'fresh' | 'resume' | 'either'} start
 * @property {boolean} calm
 * @property {boolean} quiet
 * @property {boolean} help
 */

/**
 * @param {string[]} words
 * @returns {Options}
 */
export function parseOptions(words) {
  const values = parse(words);
  if (values.fresh && values.resume) {
    throw new UsageError('--fresh and --resume exclude each other');
  }
  return {
    dir: values.dir,
    requests: values.requests,
    concurrency: wholeNumber('--concurrency', values.concurrency, 1, 100),
    seed:
      values.seed === undefined
        ? undefined
        : wholeNumber('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER),
    start: values.fresh ? 'fresh' : values.resume ? 'resume' : 'either',
    calm: values.calm,
    quiet: values.quiet,
    help: values.help,
  };
}

/** @param {string[]} words */
function parse(words) {
  try {
    return parseArgs({
      args: words,
      options: {
        dir: { type: 'string', default: '.fencepost/deliver' },
        requests: { type: 'string', default: REQUESTS },
        concurrency: { type: 'string', default: '8' },
        seed: { type: 'string' },
        calm: { type: 'boolean', default: false },
        fresh: { type: 'boolean', default: false },
        resume: { type: 'boolean', default: false },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    // Node adds a hint about positional arguments, and there are none here.
    throw new UsageError(/** @type {Error} */ (error).message.split('. ')[0]);
  }
}

/**
 * @param {string} option
 * @param {string} text
 * @param {number} least
 * @param {number} most
 */
function wholeNumber(option, text, least, most) {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} must be a whole number from ${least} to ${most}, not "${text}"`);
}
