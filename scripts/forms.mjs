/**
 * The forms of the package besides the modules that the TypeScript compiler writes: the engine's
 * file as modules, the same code as CommonJS, and everything in one file for a page.
 *
 * **Invariant**: all of them come from one build. No form has a source of its own.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT } from './command.mjs';

export const WASM = 'fencepost_bg.wasm';
/** What Node and Bun read; Bun's platform imports the file by itself. */
export const FAST_WASM = 'fencepost_fast.wasm';
/** The oldest runtime that is promised; see `engines` of the manifest. */
const NODE = 'node20';
const BROWSERS = 'es2022';
/** What only bundlers, Bun and edge workers take, and those take modules. */
const MODULES_ONLY = /^(platform|entry)\/(bun|slim|workerd)\b/;

/** Beside the engine's files: where each lies, and all that is in the small one. */
export function writeEngineModules() {
  writeLocation('location', WASM);
  writeLocation('location-fast', FAST_WASM);
  const gzipped = gzipSync(readFileSync(join(ROOT, 'pkg/wasm', WASM)), { level: 9 });
  write('pkg/wasm/inlined.js', `export default '${gzipped.toString('base64')}';\n`);
  write('pkg/wasm/inlined.d.ts', 'declare const gzipped: string;\nexport default gzipped;\n');
}

/** A module for each: whoever imports one takes no other file along. */
function writeLocation(module, file) {
  // In this very form bundlers find the file and take it along.
  const located = `new URL('./${file}', import.meta.url)`;
  write(`pkg/wasm/${module}.js`, `export function location() {\n  return ${located};\n}\n`);
  write(`pkg/wasm/${module}.d.ts`, 'export function location(): URL;\n');
}

/**
 * Puts the cron parser into the one module that uses it, so that whoever installs the package
 * installs nothing else; its licence lies beside it.
 */
export async function includeCronParser() {
  const { build } = await import('esbuild');
  const module = 'pkg/dist/cron-grid.js';
  await build({
    absWorkingDir: ROOT,
    entryPoints: [module],
    outfile: module,
    allowOverwrite: true,
    bundle: true,
    minify: true,
    format: 'esm',
    target: [NODE, BROWSERS],
    banner: { js: '/*! with croner, MIT: its licence is in pkg/dist/cron-grid.LICENSE.txt */' },
    logLevel: 'error',
  });
  copy('node_modules/croner/LICENSE', 'pkg/dist/cron-grid.LICENSE.txt');
}

/**
 * `pkg/cjs/`: every module by itself, as in `pkg/dist/`, so that two entries share what they share
 * there. Its manifest makes Node and the TypeScript compiler take it for CommonJS.
 */
export async function writeCommonJs() {
  const { transform } = await import('esbuild');
  rmSync(join(ROOT, 'pkg/cjs'), { recursive: true, force: true });
  write('pkg/cjs/package.json', '{ "type": "commonjs" }\n');
  for (const path of modulesOf('pkg/dist')) {
    if (MODULES_ONLY.test(path)) continue;
    if (path.endsWith('.d.ts')) copy(`pkg/dist/${path}`, `pkg/cjs/dist/${path}`);
    else await convert(`pkg/dist/${path}`, `pkg/cjs/dist/${path}`);
  }
  for (const name of ['fencepost', 'inlined', 'location-fast']) {
    copy(`pkg/wasm/${name}.d.ts`, `pkg/cjs/wasm/${name}.d.ts`);
  }
  for (const name of ['fencepost', 'inlined']) {
    await convert(`pkg/wasm/${name}.js`, `pkg/cjs/wasm/${name}.js`);
  }
  write('pkg/cjs/wasm/location-fast.js', locationInCommonJs());

  async function convert(from, to) {
    const source = readFileSync(join(ROOT, from), 'utf8');
    const { code } = await transform(source, { format: 'cjs', platform: 'node', target: NODE });
    write(to, code);
  }
}

/** One file with everything, for pages without a bundler: a module, and a classic script. */
export async function writeBundles() {
  const { build } = await import('esbuild');
  const common = {
    absWorkingDir: ROOT,
    entryPoints: ['pkg/dist/entry/browser.js'],
    bundle: true,
    minify: true,
    target: BROWSERS,
    logLevel: /** @type {const} */ ('error'),
  };
  await build({ ...common, format: 'esm', outfile: 'pkg/dist/inline.js' });
  await build({
    ...common,
    format: 'iife',
    globalName: 'fencepost',
    outfile: 'pkg/dist/script.js',
  });
}

function locationInCommonJs() {
  return `'use strict';
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
exports.location = () => pathToFileURL(join(__dirname, '../../wasm/${FAST_WASM}'));
`;
}

function modulesOf(directory) {
  const paths = readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: false });
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(js|d\.ts)$/.test(path));
}

function copy(from, to) {
  mkdirSync(dirname(join(ROOT, to)), { recursive: true });
  cpSync(join(ROOT, from), join(ROOT, to));
}

function write(path, text) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
}
