/** A process is killed while it appends: what it was promised is there, whole, and nothing else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { file } from 'fencepost/file';
import { expectBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { entryBytes, snapshotBytes } from './append-bytes.js';
import { Child } from './child.js';
import { temporaryDirectory } from './directory.js';
import { freshSeed, Random } from './random.js';

const LANES = 4;
/** More than any pipe has room for. */
const LINES = 20_000;
const ROUNDS_PER_LANE = Math.ceil(Number(process.env.FENCEPOST_KILL_ROUNDS ?? 200) / LANES);

test('no acknowledged entry is lost when the process is killed at any moment', async (context) => {
  const seed = freshSeed();
  context.diagnostic(`FENCEPOST_SEED=${seed}`);
  const lanes = Array.from({ length: LANES }, (_, lane) => killAgainAndAgain(context, seed + lane));
  const acknowledged = await Promise.all(lanes);
  const total = acknowledged.reduce((sum, count) => sum + count, 0);
  context.diagnostic(`${LANES * ROUNDS_PER_LANE} kills, ${total} acknowledged entries`);
  assert.ok(total > LANES * ROUNDS_PER_LANE, 'the processes got somewhere');
});

test('what a process says is heard, however soon it dies after it', async (context) => {
  const child = new Child(context, 'child-talk.ts', [String(LINES)]);
  let heard = 0;
  for (let line = await child.line(); line !== null; line = await child.line()) {
    heard += 1;
    assert.equal(line, String(heard));
  }
  assert.equal(heard, LINES);
});

/** All rounds go to one journal, so each one also takes over the lock of a dead holder. */
async function killAgainAndAgain(context: TestContext, seed: number): Promise<number> {
  const random = new Random(seed);
  const path = temporaryDirectory();
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS_PER_LANE; round += 1) {
    const child = new Child(context, 'child-append.ts', [path, '50']);
    assert.equal(await child.line(), 'open');
    const lines = random.below(60);
    for (let count = 0; count < lines; count += 1) acknowledged = Number(await child.line());
    // What it printed before it died counts as well.
    child.process.kill('SIGKILL');
    for (let line = await child.line(); line !== null; line = await child.line()) {
      acknowledged = Number(line);
    }
    await child.kill();
    acknowledged = await requireKept(path, acknowledged, `seed ${seed}, round ${round}`);
  }
  return acknowledged;
}

/** Answers the tip: an entry that was written and not acknowledged may be there, but only one. */
async function requireKept(path: string, acknowledged: number, when: string): Promise<number> {
  const replica = new Replica(file(path));
  await replica.open('append');
  assert.ok(replica.slot >= acknowledged, `${when}: ${acknowledged} was lost, at ${replica.slot}`);
  assert.ok(replica.slot <= acknowledged + 1, `${when}: ${replica.slot} came from nowhere`);
  if (replica.snapshot !== null) {
    const { slot, bytes } = replica.snapshot;
    expectBytes(bytes, snapshotBytes(slot), `${when}: the snapshot at ${slot}`);
  }
  for (const [slot, bytes] of replica.entries) {
    expectBytes(bytes, entryBytes(slot), `${when}: slot ${slot}`);
  }
  await replica.journal.close();
  return replica.slot;
}
