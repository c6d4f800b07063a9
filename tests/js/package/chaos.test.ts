/**
 * Ten thousand tasks, fifty handlers at once, three stores on one log, and everything that can go
 * wrong meanwhile. `FENCEPOST_CHAOS_SEED` repeats a run, `FENCEPOST_CHAOS_TASKS` makes it longer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Child } from '../journal/child.js';
import { freshSeed } from '../journal/random.js';

const TASKS = process.env.FENCEPOST_CHAOS_TASKS ?? '10000';

/** In a process of its own: the runner's watch over every promise would cost most of the time. */
const SCRIPT = new URL('child-chaos.ts', import.meta.url).href;

test('every task ends for the right reason, and has one owner at a time', async (context) => {
  const seed = freshSeed('FENCEPOST_CHAOS_SEED');
  context.diagnostic(`FENCEPOST_CHAOS_SEED=${seed}`);
  const child = new Child(context, SCRIPT, [String(seed), TASKS]);
  const line = (await child.line()) ?? '{"broken":"the run ended without a word"}';
  const { happened, broken, cpu_ms } = JSON.parse(line) as Record<string, string>;
  assert.equal(broken, undefined, `FENCEPOST_CHAOS_SEED=${seed}: ${broken}`);
  context.diagnostic(`${happened}, and ${cpu_ms} ms of CPU`);
  assert.equal(await child.finish(), 0);
});
