/**
 * `npm run fuzz`: the targets of `fuzz/` for as long as one likes. With a nightly compiler
 * libFuzzer follows the coverage; without one `tests/fuzz.rs` runs with other and other seeds.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asked, positive } from './asked.mjs';
import { build } from './build.mjs';
import { Failure, Misuse, ROOT, run, runTests, succeeds } from './command.mjs';
import { script, step } from './step.mjs';

/** Each with what `tests/fuzz.rs` calls one of them. */
const NOUNS = { entries: 'entry', snapshots: 'snapshot', requests: 'request' };
const TARGETS = Object.keys(NOUNS);
const TOOLS = join(ROOT, 'target/tools');
const CARGO_FUZZ = join(TOOLS, 'bin/cargo-fuzz');
const CARGO_FUZZ_VERSION = '0.13.2';
/** Where the short run leaves its seeds. */
const CORPUS = join(ROOT, 'target/tmp/fuzz');
const SHORT_RUN = ['test', '--locked', '--features', 'wasm', '--test', 'fuzz'];
/** Larger than every recorded run, and than what a mutation of one is good for. */
const INPUT_BYTES_MAX = 16_384;
const HELP = `npm run fuzz [-- --minutes N] [--target NAME] [--stable] [--record]

Looks for bytes that an engine should refuse, and does not: entries, snapshots and
requests over the border. What is found belongs into fuzz/found/NAME, where every run of
the tests tries it again.

  --minutes   how long, all targets together (default 3)
  --target    only one: ${TARGETS.join(', ')}
  --stable    without libFuzzer, as where there is no nightly compiler
  --record    only record the seeds again, after the requests have changed`;

await script(async () => {
  const values = asked(HELP, {
    options: {
      minutes: { type: 'string' },
      target: { type: 'string' },
      stable: { type: 'boolean' },
      record: { type: 'boolean' },
    },
  })?.values;
  if (values === undefined) return;
  const seconds = 60 * positive('minutes', values.minutes, 3);
  const targets = values.target === undefined ? TARGETS : [values.target];
  if (!TARGETS.includes(targets[0])) throw new Misuse(`--target: there is no ${targets[0]}`);
  if (values.record) return record();
  const hasNightly = !values.stable && (await succeeds('cargo', ['+nightly', '--version']));
  if (hasNightly) await followCoverage(targets, Math.ceil(seconds / targets.length));
  else await drawSeeds(targets, seconds);
});

async function record() {
  await build();
  await step('requests of real runs', () => run(process.execPath, ['fuzz/record.mjs']));
}

async function followCoverage(targets, seconds) {
  await step('cargo-fuzz', installCargoFuzz);
  await step('short run, which leaves its seeds', () => run('cargo', SHORT_RUN));
  for (const target of targets) {
    const limits = [`-max_total_time=${seconds}`, `-max_len=${INPUT_BYTES_MAX}`, '-timeout=20'];
    const options = ['--fuzz-dir', 'fuzz', '--target-dir', 'target/fuzz', target];
    const corpus = join(CORPUS, target);
    console.log(`${target}, ${seconds} s`);
    await runTests(CARGO_FUZZ, ['fuzz', 'run', ...options, corpus, '--', ...limits], {
      env: { RUSTUP_TOOLCHAIN: 'nightly' },
    });
  }
}

async function installCargoFuzz() {
  if (existsSync(CARGO_FUZZ)) return;
  const version = ['cargo-fuzz', '--version', CARGO_FUZZ_VERSION];
  await run('cargo', ['install', '--locked', '--root', TOOLS, ...version]);
  if (!existsSync(CARGO_FUZZ)) throw new Failure(`${CARGO_FUZZ} was not made`);
}

/** A new seed each time, until the time is over. */
async function drawSeeds(targets, seconds) {
  const end = performance.now() + 1_000 * seconds;
  const test = ['test', '--locked', '--release', '--features', 'wasm', '--test', 'fuzz'];
  const names = targets.map((target) => `any_${NOUNS[target]}`);
  for (let seed = Date.now(); performance.now() < end; seed += 1) {
    await runTests('cargo', [...test, '--', ...names], {
      env: { FENCEPOST_FUZZ_SEED: String(seed), FENCEPOST_FUZZ_RUNS: '100000' },
    });
  }
}
