/** Directories for one test. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory {
  path: string;
  dispose: () => void;
}

export function temporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'fencepost-journal-'));
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}

/** A copy without locks: what a crashed holder leaves, on another machine. */
export function copyOf(path: string): TemporaryDirectory {
  const copy = temporaryDirectory();
  cpSync(path, copy.path, {
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
