// @ts-check
/** The worker's process as its parent sees it: started, told of, signalled. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

/**
 * @typedef {object} Worker
 * @property {number | undefined} pid
 * @property {Promise<{ code: number | null, signal: NodeJS.Signals | null }>} ended
 * @property {(name: NodeJS.Signals) => void} signal
 */
/**
 * What a worker that is to be killed says in the middle of its work.
 * @typedef {{ running: number }} Middle how many requests are under way
 */

/**
 * @param {Omit<import('./options.mjs').Options, 'help'>} options
 * @param {{ onMiddle: (running: number) => void }} listeners
 * @returns {Worker}
 */
export function startWorker(options, { onMiddle }) {
  const child = fork(WORKER, [JSON.stringify(options)]);
  child.on('message', (/** @type {Middle} */ { running }) => onMiddle(running));
  return {
    pid: child.pid,
    ended: once(child, 'exit').then(([code, signal]) => ({ code, signal })),
    signal: (name) => child.kill(name),
  };
}

/**
 * Said by the worker.
 * @param {Middle} middle
 */
export function tellMiddle(middle) {
  process.send?.(middle);
}
