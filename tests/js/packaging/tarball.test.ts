/** What is published: exactly what is meant, and nothing that runs by itself. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { project } from './project.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Only bundlers, Bun and edge workers take these, and they take modules. */
const MODULES_ONLY = /^(entry|platform)\/(bun|slim|workerd)/;
const PAGES = ['pkg/dist/inline.js', 'pkg/dist/script.js'];
/** What Node reads, in both forms; `location` is for bundlers of pages, and those take modules. */
const ENGINE = ['fencepost', 'inlined', 'location-fast'];
const ABOUT = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'package.json', 'pkg/NOTICES.txt'];
/** Of the cron parser, which is in the module beside it. */
const CRON = 'pkg/dist/cron-grid.LICENSE.txt';

interface Manifest {
  scripts: Record<string, string>;
  exports: Record<string, unknown>;
  keywords: string[];
  license: string;
  [field: string]: unknown;
}

let folder = '';
let packed: string[] = [];
let manifest: Manifest;
before(() => {
  folder = join(project({}).path, 'node_modules/fencepost');
  packed = filesBelow(folder);
  manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
});

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort();
}

/** `journal/file` for each module of the sources. */
function modules(): string[] {
  return filesBelow(join(ROOT, 'pkg/src'))
    .filter((path) => !path.endsWith('.d.ts'))
    .map((path) => path.replace(/\.ts$/, ''));
}

test('every module of the sources is there in both forms, and nothing else but the engine', () => {
  const both = (path: string) => [`${path}.js`, `${path}.d.ts`];
  const common = modules().filter((name) => !MODULES_ONLY.test(name));
  const expected = [
    ...ABOUT,
    CRON,
    ...modules().flatMap((name) => both(`pkg/dist/${name}`)),
    ...PAGES,
    ...[...ENGINE, 'location'].flatMap((name) => both(`pkg/wasm/${name}`)),
    'pkg/wasm/fencepost_bg.wasm',
    'pkg/wasm/fencepost_fast.wasm',
    'pkg/cjs/package.json',
    ...common.flatMap((name) => both(`pkg/cjs/dist/${name}`)),
    ...ENGINE.flatMap((name) => both(`pkg/cjs/wasm/${name}`)),
  ];
  assert.deepEqual(packed, expected.sort());
});

test('every export leads to a file that is there, and every entry has types of both forms', () => {
  const targets = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value as object).flatMap(targets);
  const there = new Set(packed.map((path) => `./${path}`));
  for (const [entry, conditions] of Object.entries(manifest.exports)) {
    for (const target of targets(conditions)) assert.ok(there.has(target), `${entry}: ${target}`);
    if (typeof conditions === 'string') continue;
    const { types, ...others } = conditions as { types: Record<string, string> };
    assert.deepEqual(Object.keys(types), ['require', 'default'], entry);
    assert.equal(Object.keys(conditions as object)[0], 'types', `${entry}: types come first`);
    assert.equal(Object.keys(others).at(-1), 'default', `${entry}: the default comes last`);
  }
});

test('whoever reads the cron parser finds its author and its licence', () => {
  assert.match(readFileSync(join(folder, CRON), 'utf8'), /MIT License[\s\S]+Copyright/);
  for (const path of ['pkg/dist/cron-grid.js', 'pkg/cjs/dist/cron-grid.js', ...PAGES]) {
    const text = readFileSync(join(folder, path), 'utf8');
    assert.ok(text.includes(`croner, MIT: its licence is in ${CRON}`), path);
  }
});

test('everything that is compiled in has its notice, as Cargo names it', () => {
  const notices = readFileSync(join(folder, 'pkg/NOTICES.txt'), 'utf8');
  const linked = ['tree', '--locked', '--prefix=none', '--edges=normal,no-proc-macro'];
  const target = ['--target=wasm32-unknown-unknown', '--features=wasm', '--format={p}'];
  const told = execFileSync('cargo', [...linked, ...target], { cwd: ROOT, encoding: 'utf8' });
  const crates = [...told.matchAll(/^(\S+) v(\S+)/gm)].filter(([, name]) => name !== 'fencepost');
  assert.ok(crates.length > 3, told);
  for (const [, name, version] of crates) {
    const [, text = ''] = notices.split(`\n${name} ${version}, `);
    assert.match(text.split('-'.repeat(80))[0] ?? '', /copyright|permission is hereby/i, name);
  }
  assert.match(notices, /\ncroner \S+, MIT\n[\s\S]*Copyright/);
});

test('nothing runs at installation, and nothing else is installed', () => {
  const automatic = /^(pre|post)?(install|prepare|prepack|pack|publish|uninstall)/;
  assert.deepEqual(
    Object.keys(manifest.scripts).filter((name) => automatic.test(name)),
    [],
  );
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bin']) {
    assert.equal(manifest[field], undefined, field);
  }
  assert.equal(manifest.license, 'MIT OR Apache-2.0');
  assert.ok(manifest.keywords.includes('queue'));
});

test('no code names a source map, awaits at its top, or makes code out of text', () => {
  for (const path of packed.filter((name) => /\.js$/.test(name))) {
    const text = readFileSync(join(folder, path), 'utf8');
    assert.doesNotMatch(text, /sourceMappingURL|\beval\(|new Function\(/, path);
    assert.doesNotMatch(text, /^(const .* = )?await /m, path);
  }
});

test('npm would publish it without a word of warning', () => {
  const args = ['publish', '--dry-run', '--offline'];
  const { status, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const warnings = stderr.split('\n').filter((line) => /^npm warn/.test(line));
  // A dry run needs no account.
  assert.deepEqual(
    warnings.filter((line) => !/requires you to be logged in/.test(line)),
    [],
  );
});

test('the crate holds the engine, its map, the licences and the README, and nothing else', () => {
  const args = ['package', '--list', '--allow-dirty', '--offline'];
  const listed = execFileSync('cargo', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
  const files = listed.trim().split('\n');
  const made = ['Cargo.lock', 'Cargo.toml', 'Cargo.toml.orig'];
  const about = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md'];
  const sources = filesBelow(join(ROOT, 'src')).map((path) => `src/${path}`);
  assert.deepEqual(
    files.filter((path) => path !== '.cargo_vcs_info.json').sort(),
    [...made, ...about, ...sources].sort(),
  );
});

test('the crate as it would be published builds, without a word of warning', () => {
  // All that a dry run of publishing does, but for asking the registry.
  const args = ['package', '--allow-dirty', '--offline', '--color=never'];
  const { status, stderr } = spawnSync('cargo', args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /Verifying fencepost[\s\S]*Compiling fencepost[\s\S]*Finished/);
  const warnings = stderr.split('\n').filter((line) => /^warning/.test(line));
  // The tests stay in the repository, which is on no server yet.
  const meant = /ignoring test |no documentation, homepage or repository/;
  assert.deepEqual(
    warnings.filter((line) => !meant.test(line)),
    [],
  );
});
