/**
 * What a worker costs a real process while there is nothing to do.
 * `FENCEPOST_IDLE_SECONDS=30` watches it for longer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Child } from '../journal/child.js';
import { temporaryDirectory } from '../journal/directory.js';

const IDLE_MS = 1_000 * Number(process.env.FENCEPOST_IDLE_SECONDS ?? 5);
const RECHECK_MS = 30_000;
/** Of one core. A timer that fires a hundred times a second takes more. */
const SHARE_MAX = 0.01;
const SCRIPT = new URL('child-quiet.ts', import.meta.url).href;

test('an idle worker commits nothing and takes next to no time of the CPU', async (context) => {
  const child = new Child(context, SCRIPT, [temporaryDirectory(), String(IDLE_MS)]);
  const seen = JSON.parse((await child.line()) ?? '') as Record<string, number>;
  const { elapsed_ms = 0, cpu_ms = Infinity, commits, calls = Infinity } = seen;
  context.diagnostic(`${cpu_ms.toFixed(1)} ms of CPU in ${elapsed_ms.toFixed(0)} ms`);
  assert.equal(commits, 0);
  assert.ok(calls <= Math.ceil(elapsed_ms / RECHECK_MS), `${calls} calls of the journal`);
  assert.ok(cpu_ms / elapsed_ms < SHARE_MAX, `${cpu_ms} ms of CPU in ${elapsed_ms} ms`);
  assert.equal(await child.finish(), 0);
});
