/**
 * Memory stays as it is, however long a store lives and however many there were, and can be used
 * up.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** `FENCEPOST_MEMORY_OPERATIONS=1000000` looks longer. */
const OPERATIONS = Number(process.env.FENCEPOST_MEMORY_OPERATIONS ?? 120_000);
const CYCLES = 1_000;
const MEASUREMENTS = 10;
/** What may differ between two measurements of the same thing. */
const GROWTH_MAX = 1.2;
const PAGE_BYTES = 64 << 10;
const CHILD = fileURLToPath(new URL('child-memory.ts', import.meta.url));

interface Measured {
  /** The memory of the largest engine, in bytes. */
  engine: number;
  /** Engines that were not collected. */
  alive: number;
  heapUsed: number;
  arrayBuffers: number;
}

function measured(what: 'operate' | 'cycle', amount: number): Measured[] {
  const all = runChild<Measured>(['--expose-gc'], [what, String(amount), String(MEASUREMENTS)]);
  assert.equal(all.length, MEASUREMENTS);
  return all;
}

function runChild<Line>(flags: string[], args: string[]): Line[] {
  const all = [...flags, '--import', 'tsx', CHILD, ...args];
  const lines = execFileSync(process.execPath, all, { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The end against the first third, by when everything has been used and has its size. */
function requireFlat(values: number[], what: string): void {
  const early = Math.max(...values.slice(0, Math.ceil(MEASUREMENTS / 3)));
  const late = Math.min(...values.slice(-Math.ceil(MEASUREMENTS / 3)));
  assert.ok(late <= early * GROWTH_MAX, `${what} grew from ${early} to ${late}: ${values}`);
}

test(`an engine is as large after ${OPERATIONS} operations as after the first of them`, () => {
  const all = measured('operate', OPERATIONS);
  requireFlat(
    all.map(({ engine }) => engine),
    'the memory of the engine',
  );
  requireFlat(
    all.map(({ heapUsed, arrayBuffers }) => heapUsed + arrayBuffers),
    'what JavaScript holds',
  );
});

test(`after ${CYCLES} stores were opened and closed, none is left in memory`, () => {
  const all = measured('cycle', CYCLES);
  requireFlat(
    all.map(({ heapUsed, arrayBuffers }) => heapUsed + arrayBuffers),
    'what JavaScript holds',
  );
  const alive = Math.max(...all.map((it) => it.alive));
  assert.ok(alive <= 2, `${alive} engines were alive at once`);
});

test('an engine that gets no eighth more takes what it gets, in few steps', () => {
  const pagesMax = 1_000;
  const flags = [`--wasm-max-mem-pages=${pagesMax}`];
  const [filled] = runChild<{ engine: number; sizes: number }>(flags, ['fill']);
  assert.ok(filled);
  const pages = filled.engine / PAGE_BYTES;
  assert.ok(pages > pagesMax - 4 && pages <= pagesMax, `${pages} of ${pagesMax} pages were used`);
  // 7 of a mebibyte, 18 of an eighth, 7 of half as much as the one before.
  assert.ok(filled.sizes < 40, `${filled.sizes} sizes`);
});

test('without the memory to begin with, no engine is made, and the error has a code', () => {
  for (const pagesMax of [3, 17, 18]) {
    const flags = [`--wasm-max-mem-pages=${pagesMax}`];
    const refusals = runChild<{ code: string; message: string }>(flags, ['begin']);
    assert.equal(refusals.length, 2);
    for (const { code, message } of refusals) {
      assert.equal(code, 'ENGINE_CRASHED', message);
    }
  }
});
