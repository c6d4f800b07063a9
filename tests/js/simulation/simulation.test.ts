/**
 * Must-show of the journal protocol: several real stores on one simulated log, with everything that
 * goes wrong, from seeds.
 *
 * `FENCEPOST_SIMULATION_SEEDS=10000` runs more worlds, `FENCEPOST_SIMULATION_FIRST` begins at
 * another seed, `FENCEPOST_SIMULATION_SEED` runs one and prints its trace, and
 * `FENCEPOST_SIMULATION_WITHOUT=3,7-9` leaves steps of it out.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineModule } from '../../../pkg/dist/load.js';
import { node } from '../../../pkg/dist/platform/node.js';
import { brokenEngine, turningBack } from './broken-engines.js';
import {
  FloorlessLog,
  ForgetfulLog,
  RegressingLog,
  StaleLog,
  UnconditionalLog,
} from './broken-logs.js';
import { readSteps, shownSteps, shrink } from './shrink.js';
import { type Breakage, type Ending, runWorld } from './world.js';

const FILE = 'tests/js/simulation/simulation.test.ts';
const { env } = process;
const SEED = env.FENCEPOST_SIMULATION_SEED;
const FIRST = Number(SEED ?? env.FENCEPOST_SIMULATION_FIRST ?? 1);
const SEEDS = SEED === undefined ? Number(env.FENCEPOST_SIMULATION_SEEDS ?? 1_000) : 1;
const WITHOUT = readSteps(env.FENCEPOST_SIMULATION_WITHOUT ?? '');
/** A broken system must be found by then. */
const SEEDS_TO_FIND = 60;

test('every promise is kept in every world', async (context) => {
  const module = await node.engine();
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    const ending = await runWorld(module, { seed, without: WITHOUT });
    if (SEED !== undefined) for (const line of ending.lines) context.diagnostic(line);
    if (ending.broken !== null) assert.fail(await report(module, ending));
  }
  context.diagnostic(`${SEEDS} worlds from seed ${FIRST}`);
});

async function report(module: EngineModule, failed: Ending): Promise<string> {
  const { seed } = failed;
  const { ending, without } = await shrink(module, failed, { seed, without: WITHOUT });
  const steps = without.size > 0 ? ` FENCEPOST_SIMULATION_WITHOUT=${shownSteps(without)}` : '';
  const command = `node --import tsx --test ${FILE}`;
  return [
    `${ending.broken}`,
    '',
    ...ending.lines,
    '',
    `FENCEPOST_SIMULATION_SEED=${seed}${steps} ${command}`,
  ].join('\n');
}

test('the same seed gives the same world, line by line', async () => {
  const module = await node.engine();
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const first: Ending[] = [];
  for (const seed of seeds) first.push(await runWorld(module, { seed }));
  for (const ending of first.reverse()) {
    const again = await runWorld(module, { seed: ending.seed });
    assert.deepEqual(again.lines, ending.lines);
    assert.equal(again.hash, ending.hash);
  }
  assert.equal(new Set(first.map(({ hash }) => hash)).size, seeds.length);
});

test('no world asks the machine for the time, for luck, or for a timer', async (context) => {
  const module = await node.engine();
  const refuse = () => assert.fail('a world reaches outside');
  context.mock.method(Date, 'now', refuse);
  context.mock.method(Math, 'random', refuse);
  context.mock.method(performance, 'now', refuse);
  context.mock.method(globalThis, 'setTimeout', refuse);
  context.mock.method(globalThis, 'setInterval', refuse);
  const { broken } = await runWorld(module, { seed: 1 });
  context.mock.restoreAll();
  assert.equal(broken, null);
});

const BREAKAGES: Record<string, Breakage> = {
  'a log that forgets what it acknowledged': { Log: ForgetfulLog },
  'a log that does not look at what an entry follows on': { Log: UnconditionalLog },
  'a log without a floor': { Log: FloorlessLog, flavour: 'compare and set' },
  'a log that shows old news': { Log: StaleLog, flavour: 'atomic' },
  'a log that keeps the older of two snapshots': { Log: RegressingLog },
  'an engine that is never due': { engine: brokenEngine(() => ({ nextDue: undefined })) },
  'an engine that sets the clock back in place of firing': { engine: brokenEngine(turningBack) },
};

for (const [name, breakage] of Object.entries(BREAKAGES)) {
  test(`${name} is found`, async (context) => {
    const module = await node.engine();
    for (let seed = 1; seed <= SEEDS_TO_FIND; seed += 1) {
      const { broken } = await runWorld(module, { seed, breakage });
      if (broken === null) continue;
      context.diagnostic(`by seed ${seed}: ${broken.split('\n')[0]}`);
      return;
    }
    assert.fail(`no promise was broken in ${SEEDS_TO_FIND} worlds`);
  });
}

test('a failing world is shortened to the steps that matter', async () => {
  const module = await node.engine();
  const options = { seed: 1, breakage: { Log: UnconditionalLog } };
  const ending = await runWorld(module, options);
  assert.notEqual(ending.broken, null);
  const { ending: shorter, without } = await shrink(module, ending, options);
  assert.notEqual(shorter.broken, null);
  assert.ok(without.size > 0.8 * ending.steps, `${without.size} of ${ending.steps} left out`);
  assert.deepEqual(readSteps(shownSteps(without)), without);
  const replayed = await runWorld(module, { ...options, without: readSteps(shownSteps(without)) });
  assert.equal(replayed.hash, shorter.hash);
});
