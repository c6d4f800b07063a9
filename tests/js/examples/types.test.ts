/** The examples say with `@ts-check` that their types are right. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('the examples keep to the types of the package', () => {
  const compiler = ['node_modules/typescript/bin/tsc', '--project', 'examples/tsconfig.json'];
  const checked = spawnSync(process.execPath, compiler, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(checked.stdout + checked.stderr, '');
});
