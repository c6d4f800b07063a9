/** What the scripts of `package.json` say when they are asked for help, and when for nonsense. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};

/** `npm run <name> -- <words>`, without npm around it. */
function run(name: string, ...words: string[]) {
  const [, ...own] = (scripts[name] ?? '').split(' ');
  return spawnSync(process.execPath, [...own, ...words], { cwd: ROOT, encoding: 'utf8' });
}

for (const name of Object.keys(scripts)) {
  const command = ['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`;

  test(`${command} -- --help prints its help and does nothing else`, () => {
    const { status, stdout, stderr } = run(name, '--help');
    assert.equal(status, 0, stderr);
    // `check` is a group of `test`, which speaks for it.
    assert.match(stdout, new RegExp(`^(Usage: )?${name === 'check' ? 'npm test' : command}\\b`));
    assert.equal(stderr, '');
  });

  for (const words of [['--nonsense'], ['nonsense'], ['-x'], ['--help=no'], ['--help', '--no']]) {
    test(`${command} -- ${words.join(' ')} is refused in one line`, () => {
      const { status, stdout, stderr } = run(name, ...words);
      assert.equal(status, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^\S.* \(--help tells what there is\)\n$/);
    });
  }
}

for (const port of ['x', '-1', '1.5', '65536']) {
  test(`npm run www -- --port=${port} is refused in one line`, () => {
    const { status, stderr } = run('www', `--port=${port}`);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^--port: expected a whole number from 0 to 65535; got .*\n$/);
  });
}
