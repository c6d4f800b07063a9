/**
 * The power goes, or a flush fails, under a relaxed log. The disk writes what was not flushed in
 * any order, so there may be gaps.
 *
 * The promise: the log opens at a whole prefix, in either durability; what an opening, a compaction
 * or a close has found durable is in it; and what was cut off is told.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FileJournal } from '../../../pkg/dist/journal/file-journal.js';
import type { Durability, News, Slot } from '../../../pkg/dist/journal/journal.js';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { noLock } from './no-lock.js';
import { freshSeed, Random } from './random.js';
import { SimulatedDisk } from './simulated-disk.js';

const LOSSES = Number(process.env.FENCEPOST_POWER_LOSSES ?? 400);

function replicaOn(disk: SimulatedDisk, durability: Durability = 'relaxed'): Replica {
  return new Replica(new FileJournal('/store', { durability, disk, acquire: noLock }));
}

function entryAt(slot: Slot): Uint8Array {
  return patternBytes(1 + ((slot * 997) % 1500), slot);
}

/** What the writer knows. */
interface Knowledge {
  appended: Slot;
  durable: Slot;
}

/** Openings, entries, compactions and closes, until the disk gives up. */
async function work(disk: SimulatedDisk, random: Random, knows: Knowledge): Promise<void> {
  for (;;) {
    const replica = replicaOn(disk);
    await replica.open();
    assert.equal(replica.slot, knows.appended);
    knows.durable = knows.appended;
    for (let left = random.below(60); left > 0; left -= 1) {
      knows.appended = await replica.append(entryAt(knows.appended + 1));
      if (random.below(20) > 0) continue;
      await replica.journal.compact(knows.appended, [entryAt(knows.appended)]);
      knows.durable = knows.appended;
    }
    await replica.journal.close();
    if (disk.fault === null || disk.calls.length < disk.fault.call) knows.durable = knows.appended;
  }
}

async function requirePrefix(disk: SimulatedDisk, random: Random, knows: Knowledge): Promise<News> {
  const replica = replicaOn(disk, random.below(2) === 0 ? 'strict' : 'relaxed');
  const news = await replica.open();
  const { slot } = replica;
  assert.ok(slot >= knows.durable, `slot ${knows.durable} was durable, the tip is ${slot}`);
  // One more may have been written when the power went.
  assert.ok(slot <= knows.appended + 1, `slot ${slot} came from nowhere`);
  for (const [at, bytes] of replica.entries) expectBytes(bytes, entryAt(at), `slot ${at}`);
  if (news.torn !== undefined) {
    assert.deepEqual([news.torn.slot, news.torn.why], [slot, 'power-loss']);
    assert.ok(news.torn.bytes > 0);
  }
  assert.equal(await replica.append(entryAt(slot + 1)), slot + 1);
  await replica.journal.close();
  const again = replicaOn(disk, 'strict');
  assert.equal((await again.open()).torn, undefined, 'it is told once');
  assert.equal(again.slot, slot + 1);
  await again.journal.close();
  return news;
}

describe('a relaxed log', () => {
  const seed = freshSeed();

  test('opens at a whole prefix after a loss of power, and tells what it lost', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    let [lost, told] = [0, 0];
    for (let round = 0; round < LOSSES; round += 1) {
      const random = new Random(seed + round);
      const disk = new SimulatedDisk(random);
      const knows: Knowledge = { appended: 0, durable: 0 };
      disk.fault = { call: 20 + random.below(300), code: 'POWER', times: 1 };
      await assert.rejects(work(disk, random, knows), /the power went|planned|nothing was stored/);
      const { tip, torn } = await requirePrefix(disk.afterPowerLoss(), random, knows);
      if ((tip?.slot ?? 0) < knows.appended) lost += 1;
      if (torn !== undefined) told += 1;
    }
    context.diagnostic(`${LOSSES} losses of power, ${lost} lost entries, ${told} told of an end`);
    assert.ok(lost > LOSSES / 4 && told > LOSSES / 4);
  });

  test('calls nothing durable that a failed flush may have lost', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    for (const last of ['compact', 'close'] as const) {
      for (let round = 0; round < 100; round += 1) {
        const random = new Random(seed + round);
        const disk = new SimulatedDisk(random);
        const replica = replicaOn(disk);
        await replica.open();
        const knows: Knowledge = { appended: 0, durable: 0 };
        while (knows.appended < 12)
          knows.appended = await replica.append(entryAt(knows.appended + 1));
        disk.fault = { call: disk.calls.length + 2, code: 'EIO', times: 1 };
        const compact = () => replica.journal.compact(12, [entryAt(12)]);
        await assert.rejects(compact(), { code: 'JOURNAL_UNAVAILABLE' });
        assert.equal(disk.calls[disk.fault.call - 1], 'sync');
        if (last === 'compact') await compact();
        else await replica.journal.close();
        knows.durable = 12;
        await requirePrefix(disk.afterPowerLoss(), random, knows);
      }
    }
  });
});
