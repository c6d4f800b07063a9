/**
 * `npm test`: everything a change has to pass, or the groups named: `npm test -- rust js`.
 *
 * Quiet steps print a headline and, when they fail, their output. Test runners print for
 * themselves, and the last lines are those of the last runner.
 */
import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { asked } from './asked.mjs';
import { installBrowsers } from './browsers.mjs';
import { ROOT, run, runTests } from './command.mjs';
import { buildEngine, testEngine } from './engine.mjs';
import { checkTypes, compilePackage } from './package.mjs';
import { installPackages } from './packages.mjs';
import { installPackagingTools, pack } from './packed.mjs';
import { script, step, testStep } from './step.mjs';
import { chooseToolchain } from './toolchain.mjs';

const GROUPS = {
  rust: 'formatting, lints and native tests of the engine; needs no Node package',
  wasm: 'the engine compiled to WebAssembly, tested in Node',
  js: 'formatting, lints, types and tests of the package',
  browser: 'the package in Chromium, Firefox and WebKitGTK',
  packaging: 'the packed package, installed for every runtime, bundler and kind of script',
  check: 'all formatting, lints and types, but no test',
};
const BIOME = 'node_modules/@biomejs/biome/bin/biome';
const FILE_LIMIT_MS = 600_000;
const ONE = ['--test-concurrency=1'];

await script(async () => {
  const named = asked(help(), { groups: Object.keys(GROUPS) })?.groups;
  if (named === undefined) return;
  const wants = (...groups) => named.length === 0 || groups.some((group) => named.includes(group));

  if (wants('rust', 'check')) await checkRust();
  if (wants('rust')) await testRust();
  if (!wants('wasm', 'js', 'browser', 'packaging', 'check')) return;
  const toolchain = await chooseToolchain();
  await buildEngine(toolchain);
  if (wants('wasm')) await testEngine(toolchain);
  if (!wants('js', 'browser', 'packaging', 'check')) return;
  await installPackages();
  await compilePackage();
  if (wants('js', 'check')) await checkPackage();
  if (wants('js')) await testStep('node tests', () => testPackage(isLight));
  if (!wants('browser', 'packaging')) return;
  await installBrowsers();
  if (wants('browser')) await testStep('browser tests', () => testPackage(isIn('browser'), ONE));
  if (!wants('packaging')) return;
  await step('runtimes and bundlers', installPackagingTools);
  await step('npm pack', pack);
  await testStep('packaging tests', () => testPackage(isIn('packaging'), ONE));
});

async function checkRust() {
  const clippy = ['clippy', '--locked', '--workspace', '--all-targets'];
  const strictly = ['--', '-D', 'warnings'];
  await step('cargo fmt', () => run('cargo', ['fmt', '--all', '--check']));
  await step('cargo clippy', () => run('cargo', [...clippy, ...strictly]));
  await step('cargo clippy, with the bindings', () =>
    run('cargo', [...clippy, '--features', 'wasm', ...strictly]),
  );
}

async function testRust() {
  const fuzz = ['--features', 'wasm', '--test', 'fuzz'];
  await testStep('cargo test, fuzz targets', () =>
    runTests('cargo', ['test', '--locked', ...fuzz]),
  );
  await testStep('cargo test', () => runTests('cargo', ['test', '--locked']));
}

async function checkPackage() {
  await step('biome', () => run(process.execPath, [BIOME, 'check', '--error-on-warnings']));
  await step('types of the tests', () => checkTypes('tests/js/tsconfig.json'));
  await step('types of the examples', () => checkTypes('examples/tsconfig.json'));
  await step('types of the page', () => checkTypes('www/tsconfig.json'));
}

/** Browsers and bundlers are heavy: their tests run one file at a time, after the others. */
function isLight(path) {
  return !isIn('browser')(path) && !isIn('packaging')(path);
}

function isIn(folder) {
  return (path) => path.startsWith(folder + sep);
}

async function testPackage(isChosen, options = []) {
  // Node 20 knows no patterns: it is told every file.
  const files = readdirSync(join(ROOT, 'tests/js'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts') && !isForeign(path) && isChosen(path))
    .map((path) => join('tests/js', path))
    .sort();
  const runner = ['--test', '--test-reporter=spec', `--test-timeout=${FILE_LIMIT_MS}`];
  const flags = ['--import', 'tsx', ...runner, ...options];
  await runTests(process.execPath, [...flags, ...files]);
}

function isForeign(path) {
  return path.split(sep).includes('node_modules');
}

function help() {
  const groups = Object.entries(GROUPS).map(([name, what]) => `  ${name.padEnd(9)} ${what}`);
  return ['npm test [-- GROUP …]', '', ...groups, '', 'Without a group: all of them.'].join('\n');
}
