/** Debian's packages: whether they are there, and how they get there. */
import { run, succeeds } from './command.mjs';

const ENV = { DEBIAN_FRONTEND: 'noninteractive' };

/** Whether the system installs such packages at all. */
export async function hasApt() {
  return succeeds('apt-get', ['--version']);
}

/** Whether the user may install them. */
export function isRoot() {
  return process.getuid?.() === 0;
}

/** @param {string[]} packages */
export async function areInstalled(packages) {
  // The trap: a package that was removed is still known, under another status.
  const query = ['--show', `--showformat=\${db:Status-Status} `, ...packages];
  const states = await run('dpkg-query', query).catch(() => 'unknown');
  return states
    .trim()
    .split(' ')
    .every((state) => state === 'installed');
}

/**
 * Whether the package lists know them; root's are brought up to date first.
 *
 * @param {string[]} packages
 */
export async function areOffered(packages) {
  if (isRoot()) await run('apt-get', ['update'], { env: ENV });
  return succeeds('apt-cache', ['show', ...packages]);
}

/** @param {string[]} packages */
export async function install(packages) {
  await run('apt-get', installArguments(packages), { env: ENV });
}

/**
 * The line for a person who may not, or not in this process.
 *
 * @param {string[]} packages
 */
export function installLine(packages) {
  return `sudo apt-get update && sudo apt-get ${installArguments(packages).join(' ')}`;
}

function installArguments(packages) {
  return ['install', '-y', '--no-install-recommends', ...packages];
}
