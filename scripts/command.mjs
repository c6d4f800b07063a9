/**
 * A child process, run to its end.
 *
 * **Invariant**: a child that fails is a `Failure` with what the child printed, and no child
 * outlives the script because of a signal that the script can see.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The top of the repository; every command runs there. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What a person has to read: no stack trace belongs to it. */
export class Failure extends Error {}

/** A command line that says what there is not. */
export class Misuse extends Error {}

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
/** @type {Set<() => void>} How to stop each child that runs. */
const stops = new Set();

/**
 * Runs a program quietly and resolves with what it printed on standard output.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options] Variables on top of the
 *     script's own; the folder it runs in, which is the top of the repository.
 */
export async function run(program, args, { env, cwd = ROOT } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = start(program, args, { env, cwd, stdio, detached: false });
  let printed = '';
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const problem = await ended(child, () => child.kill('SIGTERM'));
  if (problem !== null) {
    throw new Failure(`${printed.trimEnd()}\n\n${program} ${args.join(' ')}: ${problem}`.trim());
  }
  return stdout;
}

/**
 * Runs a test runner: its output is shown as it comes, and whatever it started ends with it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: Record<string, string> }} [options] Variables on top of the script's own.
 */
export async function runTests(program, args, { env } = {}) {
  // A process group of its own, so that a runner that failed can't leave a test behind.
  const child = start(program, args, {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const endGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  const problem = await ended(child, endGroup);
  endGroup();
  if (problem !== null) {
    throw new Failure(`${program} ${args.join(' ')}: ${problem}`);
  }
}

/**
 * Whether the program can be started and ends well.
 *
 * @param {string} program
 * @param {string[]} args
 */
export async function succeeds(program, args) {
  return run(program, args).then(
    () => true,
    () => false,
  );
}

function start(program, args, { env, ...options }) {
  return spawn(program, args, { cwd: ROOT, ...options, env: { ...process.env, ...env } });
}

/** Resolves with what went wrong, or null; `stop` is called when the script itself is to end. */
function ended(child, stop) {
  return new Promise((resolve) => {
    if (stops.size === 0) for (const signal of SIGNALS) process.on(signal, stopAll);
    stops.add(stop);
    const settle = (problem) => {
      stops.delete(stop);
      if (stops.size === 0) for (const signal of SIGNALS) process.off(signal, stopAll);
      resolve(problem);
    };
    child.on('error', (error) => settle(error.message));
    child.on('close', (code, signal) => {
      if (code === 0) settle(null);
      else settle(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  });
}

function stopAll(signal) {
  for (const stop of stops) stop();
  process.exit(128 + constants.signals[signal]);
}
