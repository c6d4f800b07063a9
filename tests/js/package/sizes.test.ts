/**
 * What a browser loads, as brotli sends it: the engine, and the package's own JavaScript without
 * it, bundled and minified. What Node reads is measured in the same way. The budget is in the
 * manifest; whoever needs more raises it there.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { sizes } = JSON.parse(readFileSync(resolve(ROOT, 'package.json'), 'utf8')) as {
  sizes: Record<'wasm' | 'fast' | 'javascript', number>;
};

test('the engine fits into its budget, and so does the fast one', () => {
  assertWithin(sizes.wasm, [readFileSync(resolve(ROOT, 'pkg/wasm/fencepost_bg.wasm'))]);
  assertWithin(sizes.fast, [readFileSync(resolve(ROOT, 'pkg/wasm/fencepost_fast.wasm'))]);
});

test('the JavaScript of the core entry fits into its budget', async () => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['pkg/dist/entry/slim.js'],
    outdir: 'sizes',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  });
  const loaded = new Set<string>(['sizes/slim.js']);
  // What is imported only when it is needed, as the cron parser, is not loaded at the start.
  for (const path of loaded) {
    const imports = metafile.outputs[path]?.imports ?? [];
    for (const { kind, path: next } of imports) if (kind === 'import-statement') loaded.add(next);
  }
  const files = outputFiles.filter(({ path }) =>
    [...loaded].some((name) => resolve(ROOT, name) === path),
  );
  assert.equal(files.length, loaded.size);
  assertWithin(
    sizes.javascript,
    files.map((file) => file.contents),
  );
});

function assertWithin(budget: number, files: readonly Uint8Array[]): void {
  const size = files.reduce((sum, file) => sum + compressed(file), 0);
  assert.ok(size <= budget, `${size} bytes are more than the budget of ${budget}`);
  // A budget far above what is used bounds nothing; the standard library of another toolchain may
  // be larger than one that was built for size.
  assert.ok(size > budget * 0.85, `lower the budget of ${budget}: ${size} bytes are used`);
}

function compressed(bytes: Uint8Array): number {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params }).length;
}
