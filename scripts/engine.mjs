/** The engine: `src/` compiled to WebAssembly, and its JavaScript side, both in `pkg/wasm/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, runTests } from './command.mjs';
import { makeFactory } from './factory.mjs';
import { onceFor } from './stamp.mjs';
import { step, testStep } from './step.mjs';
import { TARGET } from './toolchain.mjs';

const TARGET_DIR = 'target/wasm-build';
const TOOLS_DIR = 'target/tools';
const RELEASE_DIR = `${TARGET_DIR}/${TARGET}/release`;
// Whoever opens a page waits for its size: with little inlined it is an eighth smaller than at
// level 3, and as quick. Level `s` would save two percent more, and be a third slower.
const SMALL = {
  CARGO_PROFILE_RELEASE_OPT_LEVEL: '2',
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: '-Cllvm-args=-inline-threshold=25',
};
const FEATURES = ['--features', 'wasm', '--target', TARGET];

/** @param {import('./toolchain.mjs').Toolchain} toolchain */
export async function buildEngine(toolchain) {
  const release = ['--release', '--lib', ...toolchain.releaseArgs];
  await step('engine to WebAssembly', () => cargo(run, toolchain, 'build', release));
  await step('engine, its JavaScript side', () => generate('fencepost', 'pkg/wasm'));
}

/**
 * The measured cycle, natively and inside WebAssembly.
 *
 * @param {import('./toolchain.mjs').Toolchain} toolchain
 */
export async function buildBench({ cargo: program, args, releaseArgs, env }) {
  const bench = ['build', '--release', '--package', 'fencepost-bench'];
  await step('native bench', () => run('cargo', bench));
  const inside = [...bench, ...args, ...releaseArgs, '--lib', '--target', TARGET];
  const targetEnv = { ...env, ...SMALL, CARGO_TARGET_DIR: join(ROOT, TARGET_DIR) };
  await step('bench to WebAssembly', () => run(program, inside, { env: targetEnv }));
  await step('bench, its JavaScript side', () => generate('fencepost_bench', 'bench/out'));
}

/** Writes the JavaScript side of a compiled library, unless it is there already. */
function generate(library, outDir) {
  const compiled = `${RELEASE_DIR}/${library}.wasm`;
  const outputs = ['fencepost.js', 'fencepost_bg.wasm', 'fencepost.d.ts'];
  const paths = {
    stamp: `target/stamps/bindgen-${library}`,
    inputs: [compiled, 'scripts/bindgen', 'scripts/factory.mjs', 'Cargo.lock'],
    outputs: outputs.map((name) => `${outDir}/${name}`),
  };
  return onceFor(paths, async () => {
    await run('cargo', ['run', '--quiet', '--package', 'bindgen', '--', compiled, outDir]);
    makeFactory(join(ROOT, outDir, 'fencepost.js'));
  });
}

/**
 * The engine's own tests on the far side of the border, in Node.
 *
 * @param {import('./toolchain.mjs').Toolchain} toolchain
 */
export async function testEngine(toolchain) {
  await step('wasm-bindgen test runner', installTestRunner);
  const runner = join(ROOT, TOOLS_DIR, 'bin/wasm-bindgen-test-runner');
  const env = {
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: runner,
    // The runner reads all of it each time, and a panic names its place without it.
    CARGO_PROFILE_DEV_DEBUG: 'none',
    // A handful of tests is compiled faster than they could save.
    CARGO_PROFILE_TEST_OPT_LEVEL: '0',
  };
  const withRunner = { ...toolchain, env: { ...toolchain.env, ...env } };
  await testStep('engine tests in WebAssembly', () =>
    cargo(runTests, withRunner, 'test', ['--test', 'wasm']),
  );
}

/** The runner understands only tests compiled with its own version of wasm-bindgen. */
function installTestRunner() {
  const version = lockedVersion('wasm-bindgen');
  const paths = {
    stamp: `${TOOLS_DIR}/test-runner-${version}`,
    inputs: [],
    outputs: [`${TOOLS_DIR}/bin/wasm-bindgen-test-runner`],
  };
  // Little optimised: that halves the minutes it takes to compile, and it still runs in a second.
  const env = { CARGO_PROFILE_RELEASE_OPT_LEVEL: '1' };
  const args = ['install', 'wasm-bindgen-cli', '--bin', 'wasm-bindgen-test-runner'];
  const place = ['--version', version, '--root', TOOLS_DIR, '--force'];
  return onceFor(paths, () => run('cargo', [...args, ...place], { env }));
}

function lockedVersion(name) {
  const lock = readFileSync(join(ROOT, 'Cargo.lock'), 'utf8');
  return new RegExp(`name = "${name}"\nversion = "(.+)"`).exec(lock)[1];
}

function cargo(runner, { cargo: program, args, env }, command, more) {
  return runner(program, [command, ...args, ...FEATURES, ...more], {
    env: { ...env, ...SMALL, CARGO_TARGET_DIR: join(ROOT, TARGET_DIR) },
  });
}
