/** Directories for tests, gone when the process ends. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const roots = new Map<string, string>();

/** A new, empty directory on disk. */
export function temporaryDirectory(): string {
  return directoryIn(tmpdir());
}

/** One in memory, where the system has such: for tests that open thousands of times. */
export function quickDirectory(): string {
  return directoryIn(existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
}

function directoryIn(parent: string): string {
  let root = roots.get(parent);
  if (root === undefined) {
    const made = mkdtempSync(join(parent, 'fencepost-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    roots.set(parent, made);
    root = made;
  }
  return mkdtempSync(join(root, 'store-'));
}

/** A copy without locks: what a crashed holder leaves, on another machine. */
export function copyOf(path: string): string {
  const copy = quickDirectory();
  cpSync(path, copy, {
    recursive: true,
    filter: (source) => !/[\\/]lock\.[^\\/]*$/.test(source),
  });
  return copy;
}

/** The files of a journal by name, without locks. */
export function contentOf(path: string): Map<string, Buffer> {
  const names = readdirSync(path).filter((name) => !name.startsWith('lock.'));
  return new Map(names.sort().map((name) => [name, readFileSync(join(path, name))]));
}

/** The names of the lock files. */
export function locksIn(path: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith('lock.'));
}
