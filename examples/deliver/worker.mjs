// @ts-check
/**
 * The worker, a process of its own: `worker.mjs <options as JSON>`, started by
 * `worker-process.mjs`. It dies with its parent, because the channel between them closes with it.
 *
 * Read on in `job.mjs` (the whole story), `deliver.mjs` (the work), `verify.mjs` (the check).
 */
import { FencepostError } from 'fencepost';
import { EXIT, RunFailed, UsageError } from './failures.mjs';
import { perform } from './job.mjs';
import { Progress } from './progress.mjs';
import { readRequests } from './requests.mjs';
import { Run } from './run.mjs';

/** @typedef {import('./options.mjs').Options} Options */

/** The trap: npm passes on the Ctrl-C that the terminal has already sent to the whole group. */
const SAME_SIGNAL_MS = 500;
const GOES_ON = 'The same command goes on from here.\n';

// A reader that went away (`| head`) does not end the work.
process.stdout.on('error', () => {});
const exit = () => process.exit();
process.on('disconnect', exit);
process.exitCode = await main(JSON.parse(process.argv[2] ?? '{}'));
process.off('disconnect', exit);
process.disconnect?.();

/** @param {Options} options */
async function main(options) {
  const stop = stopOnSignal();
  try {
    const isWell = await startJob(options, stop.signal);
    if (!stop.signal.aborted) return isWell ? EXIT.agreed : EXIT.failed;
  } catch (error) {
    // What was waited for ends with the signal; that is no failure.
    if (!stop.signal.aborted || error instanceof FencepostError) return explain(error);
  }
  process.stdout.write(`Stopped. ${GOES_ON}`);
  return stop.signal.reason === 'SIGINT' ? EXIT.SIGINT : EXIT.SIGTERM;
}

/**
 * @param {Options} options
 * @param {AbortSignal} stop
 */
async function startJob({ dir, start, seed, concurrency, calm, quiet, ...options }, stop) {
  const { requests, digest } = readRequests(options.requests);
  const progress = new Progress({ quiet });
  const note = progress.note.bind(progress);
  const run = await Run.open({ dir, start, seed, requests: digest, signal: stop, note });
  try {
    run.requireSame({ dir, requests: digest, seed });
    return await perform({ run, requests, concurrency, calm, progress, stop });
  } finally {
    await run.close();
  }
}

/** The first signal lets what is running finish, a later one does not. */
function stopOnSignal() {
  const stop = new AbortController();
  let first = 0;
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(name, () => {
      if (!stop.signal.aborted) first = performance.now();
      else if (performance.now() - first > SAME_SIGNAL_MS) process.exit(EXIT[name]);
      stop.abort(name);
    });
  }
  return stop;
}

/** @param {unknown} error */
function explain(error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n--help tells what there is.\n`);
    return EXIT.usage;
  }
  if (error instanceof FencepostError) {
    process.stderr.write(`${error.code}: ${error.message}\n`);
    if (error.kind === 'data') process.stderr.write('--fresh starts over.\n');
    if (error.kind === 'ended') process.stderr.write(GOES_ON);
    return EXIT.failed;
  }
  if (error instanceof RunFailed) {
    process.stderr.write(`${error.message}\n${GOES_ON}`);
    return EXIT.failed;
  }
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  return EXIT.failed;
}
