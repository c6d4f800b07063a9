/**
 * Two processes, each in a PID namespace of its own under one host name, want one directory and are
 * killed: they have the same process id, and neither can see the other. There is never more than
 * one holder, and nothing that either was told to be stored is lost.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { file } from 'fencepost/file';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { Child } from './child.js';
import { quickDirectory } from './directory.js';
import { OWN_PIDS, requireNamespaces } from './namespaces.js';
import { freshSeed, Random } from './random.js';

const TRIALS = Number(process.env.FENCEPOST_RIVAL_TRIALS ?? 6);
const KILLS = 3;
const LINES_MAX = 30;

interface Stored {
  readonly slot: number;
  readonly size: number;
  readonly number: number;
}

/** From the moment it was open to the last that was heard of it. */
interface Held {
  readonly from: bigint;
  until: bigint;
}

class Trial {
  readonly stored: Stored[] = [];
  readonly held: Held[] = [];

  /** Reads what one process says, until it says no more or enough. */
  async hear(child: Child, lines: number): Promise<void> {
    let held: Held | undefined;
    for (let heard = 0; ; heard += 1) {
      if (heard === lines) child.process.kill('SIGKILL');
      const line = await child.line();
      if (line === null) break;
      const [word, time = '', slot, size, number] = line.split(' ');
      if (word === 'open') {
        held = { from: BigInt(time), until: BigInt(time) };
        this.held.push(held);
      }
      if (held !== undefined) held.until = BigInt(time);
      if (word === 'stored') {
        this.stored.push({ slot: Number(slot), size: Number(size), number: Number(number) });
      }
    }
    await child.kill();
  }

  requireOneHolder(when: string): void {
    const inOrder = this.held.toSorted((one, other) => (one.from < other.from ? -1 : 1));
    inOrder.forEach(({ from }, at) => {
      const before = inOrder[at - 1];
      assert.ok(!before || before.until < from, `${when}: two held it at once`);
    });
  }

  async requireKept(path: string, when: string): Promise<void> {
    const replica = new Replica(file(path));
    await replica.open('rivals');
    for (const { slot, size, number } of this.stored) {
      const bytes = replica.entries.get(slot);
      assert.ok(bytes, `${when}: slot ${slot} was lost, at ${replica.slot}`);
      expectBytes(bytes, patternBytes(size, number), `${when}: slot ${slot}`);
    }
    await replica.journal.close();
  }
}

/** Each of two lanes starts a process again whenever it was killed. */
async function contend(context: TestContext, path: string, seed: number): Promise<Trial> {
  const [trial, random] = [new Trial(), new Random(seed)];
  const lane = async (first: number): Promise<void> => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const args = [path, String(seed + first + kill)];
      const child = new Child(context, 'child-rival.ts', args, { under: OWN_PIDS });
      await trial.hear(child, random.below(LINES_MAX));
    }
  };
  await Promise.all([lane(1), lane(1_000)]);
  return trial;
}

test('of two that cannot see each other one holds, and nothing is lost', async (context) => {
  requireNamespaces();
  const seed = freshSeed();
  context.diagnostic(`FENCEPOST_SEED=${seed}`);
  let [stored, held] = [0, 0];
  for (let count = 0; count < TRIALS; count += 1) {
    const [path, when] = [quickDirectory(), `seed ${seed}, trial ${count}`];
    const trial = await contend(context, path, seed + count * 10_000);
    trial.requireOneHolder(when);
    await trial.requireKept(path, when);
    stored += trial.stored.length;
    held += trial.held.length;
    rmSync(path, { recursive: true });
  }
  context.diagnostic(`${TRIALS} trials, ${held} holders, ${stored} acknowledged entries`);
  assert.ok(stored > TRIALS, 'the processes got somewhere');
});
