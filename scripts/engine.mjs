/** The engine: `src/` compiled to WebAssembly, and its JavaScript side, both in `pkg/wasm/`. */
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure, ROOT, run, runTests } from './command.mjs';
import { makeFactory } from './factory.mjs';
import { FAST_WASM, WASM } from './forms.mjs';
import { onceFor } from './stamp.mjs';
import { step, testStep } from './step.mjs';
import { TARGET } from './toolchain.mjs';

const TOOLS_DIR = 'target/tools';
const FEATURES = ['--features', 'wasm', '--target', TARGET];
const SCRIPT = 'fencepost.js';
const TYPES = 'fencepost.d.ts';

/**
 * @typedef {object} Build The engine is built twice, since its size counts only where it is sent.
 * @property {string} targetDir Of its own: both write the same file, and would wait for each other.
 * @property {string[]} flags For the compiler.
 * @property {Record<string, string>} env
 */

/**
 * For whoever waits for a download: browsers, edge workers, an inlined engine. With little inlined
 * it is two fifths smaller than the other one. Level `s` would save two percent more, and be a
 * third slower.
 *
 * @type {Build}
 */
const SMALL = {
  targetDir: 'target/wasm-build',
  flags: ['-Cllvm-args=-inline-threshold=25'],
  env: { CARGO_PROFILE_RELEASE_OPT_LEVEL: '2' },
};
/**
 * For whoever reads the engine from a disk: Node and Bun. WebAssembly pays more for a call than a
 * processor does, so more is inlined than by default (225), which is worth a twentieth. With 1000
 * it is a quarter larger again, and no quicker.
 *
 * @type {Build}
 */
const FAST = {
  targetDir: 'target/wasm-fast',
  flags: ['-Cllvm-args=-inline-threshold=400'],
  env: {},
};

/** @param {import('./toolchain.mjs').Toolchain} toolchain */
export async function buildEngine(toolchain) {
  const scratch = `${FAST.targetDir}/bindgen`;
  await step('engine to WebAssembly, small and fast', () => compileBoth(toolchain));
  await step('small engine, its JavaScript side', () => generate(SMALL, 'fencepost', 'pkg/wasm'));
  await step('fast engine, its JavaScript side', () => generate(FAST, 'fencepost', scratch));
  await step('fast engine beside the small one', () => addFast(scratch));
}

/** At once: a compilation of one crate after the other hardly uses a second core. */
async function compileBoth(toolchain) {
  const compile = (build, more) =>
    cargo(run, toolchain, build, 'build', ['--release', '--lib', ...more]);
  const both = [compile(SMALL, toolchain.smallArgs), compile(FAST, [])];
  // A failure waits for the other one, which would outlive the script.
  const failed = (await Promise.allSettled(both)).find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Both builds are driven by one JavaScript side: that of the small one. */
function addFast(scratch) {
  const sides = [SCRIPT, TYPES].map((name) => [`pkg/wasm/${name}`, `${scratch}/${name}`]);
  const compiled = `${scratch}/${WASM}`;
  const paths = {
    stamp: `${FAST.targetDir}/stamps/added`,
    inputs: [...sides.flat(), compiled],
    outputs: [`pkg/wasm/${FAST_WASM}`],
  };
  return onceFor(paths, async () => {
    for (const [small, fast] of sides) {
      if (read(small) !== read(fast)) {
        throw new Failure(
          `Both builds of the engine need one JavaScript side: ${small} is not ${fast}.`,
        );
      }
    }
    copyFileSync(join(ROOT, compiled), join(ROOT, 'pkg/wasm', FAST_WASM));
  });
}

/**
 * The measured cycle, natively and inside WebAssembly: compiled as for Node, but without a border,
 * and so with the allocator of the standard library.
 *
 * @param {import('./toolchain.mjs').Toolchain} toolchain
 */
export async function buildBench({ cargo: program, args, env }) {
  const bench = ['build', '--release', '--package', 'fencepost-bench'];
  await step('native bench', () => run('cargo', bench));
  const inside = [...bench, ...args, '--lib', '--target', TARGET];
  const targetEnv = { ...env, ...(await envOf(FAST, env)) };
  await step('bench to WebAssembly', () => run(program, inside, { env: targetEnv }));
  await step('bench, its JavaScript side', () => generate(FAST, 'fencepost_bench', 'bench/out'));
}

/** Writes the JavaScript side of a compiled library, unless it is there already. */
function generate({ targetDir }, library, outDir) {
  const compiled = `${targetDir}/${TARGET}/release/${library}.wasm`;
  const paths = {
    stamp: `${targetDir}/stamps/bindgen-${library}`,
    inputs: [compiled, 'scripts/bindgen', 'scripts/factory.mjs', 'Cargo.lock'],
    outputs: [SCRIPT, WASM, TYPES].map((name) => `${outDir}/${name}`),
  };
  return onceFor(paths, async () => {
    // Whatever an earlier version left there would be packed.
    rmSync(join(ROOT, outDir), { recursive: true, force: true });
    await run('cargo', ['run', '--quiet', '--package', 'bindgen', '--', compiled, outDir]);
    makeFactory(join(ROOT, outDir, SCRIPT));
    // The raw exports are named for nobody, and would be taken for the type of an import of the
    // file. It goes where it comes from: what reads the other files may find them unchanged.
    rmSync(join(ROOT, outDir, `${WASM}.d.ts`));
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
    cargo(runTests, withRunner, SMALL, 'test', ['--test', 'wasm']),
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
  return new RegExp(`name = "${name}"\nversion = "(.+)"`).exec(read('Cargo.lock'))[1];
}

async function cargo(runner, { cargo: program, args, env }, build, command, more) {
  return runner(program, [command, ...args, ...FEATURES, ...more], {
    env: { ...env, ...(await envOf(build, env)) },
  });
}

async function envOf({ env, flags, targetDir }, { RUSTC = 'rustc' }) {
  const all = [...flags, ...(await anonymous(RUSTC))];
  return {
    ...env,
    CARGO_TARGET_DIR: join(ROOT, targetDir),
    // In this form a path may have spaces in it.
    CARGO_ENCODED_RUSTFLAGS: all.join('\x1f'),
  };
}

/** A panic names the file it comes from: below names that are the same for every builder. */
async function anonymous(rustc) {
  const sysroot = (await run(rustc, ['--print', 'sysroot'])).trim();
  const names = [
    [process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'cargo'],
    [join(sysroot, 'lib/rustlib/src/rust'), 'rust'],
    [ROOT, 'fencepost'],
  ];
  return names.map(([path, name]) => `--remap-path-prefix=${path}=/${name}`);
}

function read(path) {
  return readFileSync(join(ROOT, path), 'utf8');
}
