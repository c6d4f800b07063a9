/**
 * What a browser loads, as brotli sends it: the engine, the package's own JavaScript, bundled and
 * minified, and the cron parser, which is another author's. What Node reads is measured in the same
 * way. The budget is in the manifest; whoever needs more raises it there.
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
  sizes: Record<'wasm' | 'fast' | 'javascript' | 'cron', number>;
};

test('the engine fits into its budget, and so does the fast one', () => {
  assertWithin(sizes.wasm, compressed(readFileSync(resolve(ROOT, 'pkg/wasm/fencepost_bg.wasm'))));
  assertWithin(sizes.fast, compressed(readFileSync(resolve(ROOT, 'pkg/wasm/fencepost_fast.wasm'))));
});

test('the core entry fits into its budget, and so does the cron parser', async () => {
  const whole = await slim([]);
  const own = await slim(['*/cron-grid.js']);
  assertWithin(sizes.javascript, compressed(own));
  assertWithin(sizes.cron, compressed(whole) - compressed(own));
});

async function slim(external: string[]): Promise<Uint8Array> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['pkg/dist/entry/slim.js'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    external,
  });
  return (outputFiles[0] as { contents: Uint8Array }).contents;
}

function assertWithin(budget: number, size: number): void {
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
