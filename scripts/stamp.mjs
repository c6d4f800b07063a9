/**
 * A stamp: what the inputs of a finished piece of work were, so that it is not done again.
 *
 * **Invariant**: a stamp goes before the work and is written after it has succeeded, so that no
 * output is half of one. It names contents, not times: a checkout, a copied folder or a set-back
 * clock can't make old output look new.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './command.mjs';

/** What a step reports when there was nothing to do. */
export const UNCHANGED = 'unchanged';

/**
 * Does the work unless it succeeded before with the same inputs and its outputs are still there.
 *
 * @param {{ stamp: string, inputs: string[], outputs: string[] }} paths All below the repository; a
 *   folder stands for every file in it. The stamp goes when the folder it lies in goes.
 * @param {() => Promise<unknown>} work
 */
export async function onceFor({ stamp, inputs, outputs }, work) {
  const stampFile = join(ROOT, stamp);
  const now = hashOf(inputs);
  const before = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
  if (before === now && outputs.every((output) => existsSync(join(ROOT, output)))) {
    return UNCHANGED;
  }
  rmSync(stampFile, { force: true });
  await work();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, now);
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(filesOf).sort()) {
    const bytes = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

function filesOf(path) {
  if (statSync(join(ROOT, path)).isFile()) return [path];
  return readdirSync(join(ROOT, path)).flatMap((name) => filesOf(`${path}/${name}`));
}
