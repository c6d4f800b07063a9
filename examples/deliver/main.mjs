#!/usr/bin/env node
// @ts-check
/**
 * The main job: recorded HTTP requests go through a durable queue to a server that answers like a
 * bad network. A worker process does it; this one kills the worker in the middle and starts the
 * next, as it does with every worker that was killed. Kill this one, too, whenever you like, and
 * start it again: it goes on where it was.
 *
 * Read on in `worker.mjs`, and there in `job.mjs`: the whole story.
 */
import { EXIT, UsageError } from './failures.mjs';
import { HELP, parseOptions } from './options.mjs';
import { startWorker } from './worker-process.mjs';

/** @typedef {import('./options.mjs').Options} Options */

// A reader that went away (`| head`) does not end the work.
process.stdout.on('error', () => {});
process.exitCode = await main(process.argv.slice(2));

/** @param {string[]} words */
async function main(words) {
  try {
    const { help, ...options } = parseOptions(words);
    if (!help) return await supervise(options);
    process.stdout.write(HELP);
    return EXIT.agreed;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n--help tells what there is.\n`);
    return EXIT.usage;
  }
}

/**
 * Starts a worker, and another one whenever it was killed.
 * @param {Omit<Options, 'help'>} options
 */
async function supervise(options) {
  /** @type {import('./worker-process.mjs').Worker | undefined} */
  let worker;
  let isStopping = false;
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(name, () => {
      isStopping = true;
      worker?.signal(name);
    });
  }
  for (let start = options.start; ; start = 'resume') {
    worker = startWorker({ ...options, start }, { onMiddle });
    const { code, signal } = await worker.ended;
    if (signal === null) return code ?? EXIT.failed;
    if (isStopping) return EXIT.SIGTERM;
    note(`The worker (process ${worker.pid}) was ended by ${signal}. Another one goes on.`);
  }

  /** @param {number} running */
  function onMiddle(running) {
    if (isStopping) return;
    note(`Killing the worker (process ${worker?.pid}) with ${running} requests under way.`);
    worker?.signal('SIGKILL');
  }

  /** @param {string} text */
  function note(text) {
    // The line below the last progress, which a killed worker has left as it was.
    if (!options.quiet) process.stdout.write(`${process.stdout.isTTY ? '\n' : ''}${text}\n`);
  }
}
