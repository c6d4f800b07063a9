/**
 * `npm run planted`: bugs on purpose. Each one of `tests/planted/bugs.json` is put into a copy of
 * the repository, and the test that is to find it has to fail. A bug that survives wants a test.
 *
 * **Invariant**: a bug that cannot be put in at exactly one place, or that does not compile, is no
 * proof of anything, and neither is a test that fails without it: both end the run as failures.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asked } from './asked.mjs';
import { build } from './build.mjs';
import { Failure, ROOT, run } from './command.mjs';
import { script, step } from './step.mjs';

const LIST = 'tests/planted/bugs.json';
const COPY = join(ROOT, 'target/planted/copy');
const CARGO_TARGET = join(ROOT, 'target/planted/cargo');
const HELP = `npm run planted [-- --only TEXT] [--engine | --package]

Puts each bug of ${LIST} into a copy of the repository and expects that the
test named there fails.

  --only      only bugs whose words, file or test contain the text
  --engine    only those that Rust's tests find
  --package   only those that the package's tests find: these need no compiler

Ends with 1 when a bug survives.`;

/** What hangs is ended; a bug that makes a test hang is found, too. */
const LIMIT_S = 900;
/** Thirty builds are to be quick; the model's smallest sequence is not wanted here. */
const ENV = {
  CARGO_TARGET_DIR: CARGO_TARGET,
  CARGO_PROFILE_TEST_OPT_LEVEL: '0',
  CARGO_PROFILE_TEST_DEBUG: '0',
  PROPTEST_CASES: '500',
  PROPTEST_MAX_SHRINK_ITERS: '0',
};

/**
 * @typedef {object} Bug
 * @property {string} bug What goes wrong, in words.
 * @property {string} file Where it is put in.
 * @property {string} find What is there, exactly once.
 * @property {string} replace What is put in its place.
 * @property {string} by The test file that finds it.
 * @property {string} test The test in it, as its name is written there.
 */

await script(async () => {
  const values = asked(HELP, {
    options: {
      only: { type: 'string' },
      engine: { type: 'boolean' },
      package: { type: 'boolean' },
    },
  })?.values;
  if (values === undefined) return;
  /** @type {Bug[]} */
  const all = JSON.parse(readFileSync(join(ROOT, LIST), 'utf8'));
  const bugs = all
    .filter((bug) => !values.package || !isRust(bug))
    .filter((bug) => !values.engine || isRust(bug))
    .filter((bug) => JSON.stringify(bug).includes(values.only ?? ''))
    .sort((a, b) => a.by.localeCompare(b.by));
  if (bugs.length === 0) throw new Failure(`No bug contains ${values.only}.`);
  if (bugs.some((bug) => !isRust(bug))) await build();
  await step('copy of the repository', copy);
  await step('all tests without any bug', () => requireSound(bugs));
  const problems = [];
  for (const bug of bugs) {
    const problem = await step(bug.bug, () => problemWith(bug));
    if (problem !== null) problems.push(`${bug.bug}: ${problem}`);
  }
  console.log(`\n${bugs.length - problems.length} of ${bugs.length} planted bugs were found.`);
  if (problems.length > 0) throw new Failure(problems.join('\n\n'));
});

async function copy() {
  rmSync(COPY, { recursive: true, force: true });
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = (await run('git', list)).split('\0').filter((path) => path !== '');
  for (const path of [...files, 'pkg/dist', 'pkg/cjs', 'pkg/wasm']) {
    mkdirSync(dirname(join(COPY, path)), { recursive: true });
    // A file that is listed may be gone, and a build may not be needed.
    cpSync(join(ROOT, path), join(COPY, path), { recursive: true, force: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(COPY, 'node_modules'));
}

async function requireSound(bugs) {
  for (const by of new Set(bugs.map((bug) => bug.by))) {
    const { failed, output } = await runTest(bugs.find((bug) => bug.by === by));
    if (failed.length > 0 || !output.includes('pass')) {
      throw new Failure(`${by} fails without a bug: ${failed.join(', ')}\n${output.slice(-4000)}`);
    }
  }
}

/** Null when the test that is named fails with the bug, as it should. */
async function problemWith(bug) {
  const { file, find, replace, test } = bug;
  const text = readFileSync(join(COPY, file), 'utf8');
  if (text.split(find).length !== 2) return `${file} does not have exactly one\n${find}`;
  try {
    await write(
      file,
      text.replace(find, () => replace),
    );
    const { failed, output } = await runTest(bug);
    if (failed.some((name) => isName(test, name))) return null;
    if (failed.length > 0) return `found, but not by "${test}": ${failed.join('; ')}`;
    if (/could not compile|SyntaxError/.test(output)) return `does not compile\n${output}`;
    return `survives "${test}"`;
  } finally {
    await write(file, text);
  }
}

/** A module of the package is compiled by itself: the bug is for its test, not for the types. */
async function write(file, text) {
  writeFileSync(join(COPY, file), text);
  if (!file.endsWith('.ts')) return;
  const { transform } = await import('esbuild');
  const { code } = await transform(text, { loader: 'ts', target: 'es2022', format: 'esm' });
  const built = file.replace('pkg/src/', 'pkg/dist/').replace(/\.ts$/, '.js');
  writeFileSync(join(COPY, built), code);
}

/** Runs the test of a bug. Resolves with the names of the tests that failed, and all it printed. */
async function runTest(bug) {
  const [program, ...args] = isRust(bug) ? cargoTest(bug) : nodeTest(bug);
  const output = await run('timeout', ['--kill-after=5', `${LIMIT_S}`, program, ...args], {
    env: ENV,
    cwd: COPY,
  }).catch((error) => error.message);
  const failed = isRust(bug)
    ? [...output.matchAll(/^test (\S+) \.\.\. FAILED$/gm)]
    : [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)];
  const names = failed.map(([, name]) => name);
  if (names.length === 0 && output.endsWith('ended with 124')) names.push(bug.test);
  return { failed: names, output };
}

function isRust({ by }) {
  return by.endsWith('.rs');
}

function cargoTest({ by, test }) {
  const stem = by.replace('tests/', '').replace('.rs', '');
  return ['cargo', 'test', '--locked', '--test', stem, '--', '--exact', test];
}

function nodeTest({ by }) {
  return [process.execPath, '--import', 'tsx', '--test', '--test-reporter=tap', by];
}

/** A name as it is written holds `${…}` where a test of several cases tells which it is. */
function isName(written, name) {
  const plain = (text) => text.replaceAll('_', ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parts = written.split(/\$\{[^}]*\}/).map(plain);
  return new RegExp(`^${parts.join('.*')}$`).test(
    name.replaceAll('_', ' ').replace(/\\(.)/g, '$1'),
  );
}
