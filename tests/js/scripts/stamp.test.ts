/** Work that was done is not done again, and half of it is not taken for done. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onceFor, UNCHANGED } from '../../../scripts/stamp.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A piece of work that copies its input, in a folder of its own below the repository. */
function copying() {
  mkdirSync(join(ROOT, 'target'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'target/stamped-'));
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  const paths = {
    stamp: relative(ROOT, join(folder, 'stamp')),
    inputs: [relative(ROOT, input)],
    outputs: [relative(ROOT, output)],
  };
  return {
    output,
    build(text: string, work = async () => writeFileSync(output, text)) {
      writeFileSync(input, text);
      return onceFor(paths, work);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

test('work is done again when its inputs are others or its outputs are gone', async () => {
  const { build, output, remove } = copying();
  assert.notEqual(await build('one'), UNCHANGED);
  assert.equal(await build('one'), UNCHANGED);
  assert.notEqual(await build('other'), UNCHANGED);
  rmSync(output);
  assert.notEqual(await build('other'), UNCHANGED);
  assert.ok(existsSync(output));
  remove();
});

test('work that failed in the middle is done again, also with the inputs before it', async () => {
  const { build, output, remove } = copying();
  await build('one');
  const failing = build('other', async () => {
    writeFileSync(output, 'half');
    throw new Error('in the middle');
  });
  await assert.rejects(failing, /in the middle/);
  assert.notEqual(await build('one'), UNCHANGED);
  assert.equal(await build('one'), UNCHANGED);
  remove();
});
