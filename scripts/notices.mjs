/**
 * The notices of everything that is compiled into the package: crates in the engine, and the cron
 * parser. Their licences ask that whoever gets the package gets them, too.
 *
 * **Invariant**: the list is Cargo's own answer, so that a new dependency cannot be forgotten.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, run } from './command.mjs';
import { TARGET } from './toolchain.mjs';

const LICENCES = /^(licen[sc]e|copying|notice|copyright)/i;
const HEAD = `Fencepost is licensed under MIT or Apache-2.0: see LICENSE-MIT and LICENSE-APACHE.
What follows is compiled into it.

The engine also contains parts of the Rust standard library, Copyright (c) The Rust Project
Contributors, dual-licensed under Apache-2.0 and MIT.
`;

/** @param {string} path of the file that is written */
export async function writeNotices(path) {
  const croner = join(ROOT, 'node_modules/croner');
  const { name, version, license } = JSON.parse(readFileSync(join(croner, 'package.json'), 'utf8'));
  const all = [...(await cratesInside()), { name, version, license, folder: croner }];
  writeFileSync(join(ROOT, path), [HEAD, ...all.map(notice)].join('\n'));
}

/** What the engine links: neither what builds it nor what tests it. */
async function cratesInside() {
  const target = ['--filter-platform', TARGET, '--features', 'wasm'];
  const told = await run('cargo', ['metadata', '--locked', '--format-version', '1', ...target]);
  const { packages, resolve } = JSON.parse(told);
  const packageOf = new Map(packages.map((crate) => [crate.id, crate]));
  const nodeOf = new Map(resolve.nodes.map((node) => [node.id, node]));
  const own = packages.find(({ name, source }) => name === 'fencepost' && source === null);
  const reached = new Set([own.id]);
  for (const id of reached) {
    for (const { pkg, dep_kinds } of nodeOf.get(id).deps) {
      const isLinked = dep_kinds.some(({ kind }) => kind === null) && !isMacro(packageOf.get(pkg));
      if (isLinked) reached.add(pkg);
    }
  }
  reached.delete(own.id);
  return [...reached]
    .map((id) => packageOf.get(id))
    .map((crate) => ({ ...crate, folder: dirname(crate.manifest_path) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** It runs in the compiler. */
function isMacro({ targets }) {
  return targets.some(({ kind }) => kind.includes('proc-macro'));
}

function notice({ name, version, license, folder }) {
  const files = readdirSync(folder)
    .filter((file) => LICENCES.test(file))
    .sort();
  const texts = files.map((file) => `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`);
  const none = `\nIts package has no text of its licence.\n`;
  const head = `${name} ${version}, ${license}`;
  return `${'-'.repeat(80)}\n${head}\n${texts.length === 0 ? none : texts.join('')}`;
}
