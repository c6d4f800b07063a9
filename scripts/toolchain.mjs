/**
 * The toolchain: which Rust compiles the engine to WebAssembly. Native work is always done by the
 * `cargo` on the path; it has a target folder of its own, so that two compilers never take turns in
 * one.
 *
 * The cases, in this order:
 *
 * 1. The active `rustc` has the target's standard library.
 * 2. Debian and its like: packages that lie beside rustup and bring a compiler, a linker and the
 *    standard library's source. They are installed when missing, which only root can do.
 * 3. rustup fetches the target's standard library.
 * 4. None of these: say what to install.
 */
import { existsSync } from 'node:fs';
import { Failure, run, succeeds } from './command.mjs';
import { areInstalled, areOffered, hasApt, install, installLine, isRoot } from './debian.mjs';

export const TARGET = 'wasm32-unknown-unknown';

const DEBIAN_PACKAGES = ['rustc-web', 'cargo-web', 'rust-web-src', 'lld-19'];
const RUSTUP_ADD = ['target', 'add', TARGET];

/**
 * @typedef {object} Toolchain
 * @property {string} description One line for a person.
 * @property {string} cargo The program.
 * @property {string[]} args Arguments after the subcommand.
 * @property {string[]} smallArgs More of them, for what is to be small.
 * @property {Record<string, string>} env
 */

/** @returns {Promise<Toolchain>} */
export async function chooseToolchain() {
  const chosen = (await activeRust()) ?? (await debianRust()) ?? (await rustupTarget());
  if (chosen === null) {
    throw new Failure(
      'No Rust for WebAssembly was found. Install rustup (or Rust 1.95 or newer with the\n' +
        `standard library of ${TARGET}) and run this again.`,
    );
  }
  console.log(`WebAssembly by ${chosen.description}`);
  return chosen;
}

async function activeRust() {
  const libdir = await run('rustc', ['--print', 'target-libdir', '--target', TARGET]).catch(
    () => '',
  );
  if (!existsSync(libdir.trim())) return null;
  return plain(`${await versionOf('rustc')}, which has the target`);
}

async function debianRust() {
  if (!(await hasApt())) return null;
  if (!(await areInstalled(DEBIAN_PACKAGES)) && !(await installDebianRust())) return null;
  return {
    description: `Debian's ${await versionOf('/usr/bin/rustc')}, standard library from its source`,
    cargo: '/usr/bin/cargo',
    args: ['-Zbuild-std=std,panic_abort'],
    smallArgs: ['-Zbuild-std-features=optimize_for_size'],
    env: {
      RUSTC: '/usr/bin/rustc',
      // A released compiler takes -Z options only with this.
      RUSTC_BOOTSTRAP: '1',
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: 'wasm-ld-19',
    },
  };
}

/** Resolves with false where this system does not offer the packages. */
async function installDebianRust() {
  if (!(await areOffered(DEBIAN_PACKAGES))) return false;
  if (!isRoot()) {
    throw new Failure(
      'The active Rust has no WebAssembly target. Run this, then try again:\n\n' +
        `    ${installLine(DEBIAN_PACKAGES)}\n\n` +
        `or, if you have rustup: rustup ${RUSTUP_ADD.join(' ')}`,
    );
  }
  console.log(`installing ${DEBIAN_PACKAGES.join(' ')} (once)`);
  await install(DEBIAN_PACKAGES);
  return true;
}

async function rustupTarget() {
  if (!(await succeeds('rustup', ['--version']))) return null;
  await run('rustup', RUSTUP_ADD);
  return plain(`${await versionOf('rustc')}, to which rustup added the target`);
}

function plain(description) {
  return { description, cargo: 'cargo', args: [], smallArgs: [], env: {} };
}

async function versionOf(rustc) {
  const [name, version] = (await run(rustc, ['--version'])).split(' ');
  return `${name} ${version}`;
}
