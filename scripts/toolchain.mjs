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

export const TARGET = 'wasm32-unknown-unknown';

const DEBIAN_PACKAGES = ['rustc-web', 'cargo-web', 'rust-web-src', 'lld-19'];
const APT_INSTALL = ['install', '-y', '--no-install-recommends', ...DEBIAN_PACKAGES];
const APT_ENV = { DEBIAN_FRONTEND: 'noninteractive' };
const RUSTUP_ADD = ['target', 'add', TARGET];

/**
 * @typedef {object} Toolchain
 * @property {string} description One line for a person.
 * @property {string} cargo The program.
 * @property {string[]} args Arguments after the subcommand.
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
  if (!(await succeeds('apt-get', ['--version']))) return null;
  if (!(await debianPackagesAreThere()) && !(await installDebianPackages())) return null;
  return {
    description: `Debian's ${await versionOf('/usr/bin/rustc')}, standard library from its source`,
    cargo: '/usr/bin/cargo',
    args: ['-Zbuild-std=std,panic_abort'],
    env: {
      RUSTC: '/usr/bin/rustc',
      // A released compiler takes -Z options only with this.
      RUSTC_BOOTSTRAP: '1',
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: 'wasm-ld-19',
    },
  };
}

async function debianPackagesAreThere() {
  // The trap: a package that was removed is still known, under another status.
  const query = ['--show', `--showformat=\${db:Status-Status} `, ...DEBIAN_PACKAGES];
  const states = await run('dpkg-query', query).catch(() => '');
  return states
    .trim()
    .split(' ')
    .every((state) => state === 'installed');
}

/** Resolves with false where this system does not offer the packages. */
async function installDebianPackages() {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await run('apt-get', ['update'], { env: APT_ENV });
  if (!(await succeeds('apt-cache', ['show', ...DEBIAN_PACKAGES]))) return false;
  if (!isRoot) {
    throw new Failure(
      'The active Rust has no WebAssembly target. Run this, then try again:\n\n' +
        `    sudo apt-get update && sudo apt-get ${APT_INSTALL.join(' ')}\n\n` +
        `or, if you have rustup: rustup ${RUSTUP_ADD.join(' ')}`,
    );
  }
  console.log(`installing ${DEBIAN_PACKAGES.join(' ')} (once)`);
  await run('apt-get', APT_INSTALL, { env: APT_ENV });
  return true;
}

async function rustupTarget() {
  if (!(await succeeds('rustup', ['--version']))) return null;
  await run('rustup', RUSTUP_ADD);
  return plain(`${await versionOf('rustc')}, to which rustup added the target`);
}

function plain(description) {
  return { description, cargo: 'cargo', args: [], env: {} };
}

async function versionOf(rustc) {
  const [name, version] = (await run(rustc, ['--version'])).split(' ');
  return `${name} ${version}`;
}
