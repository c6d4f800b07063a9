/**
 * The power goes, or a call fails, at every single step the file journal takes on its disk.
 *
 * The promise: what was acknowledged is there, what was said not to be stored never appears, of
 * what is unknown it is one or the other, and nothing else is there. Afterwards the journal works.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { FileJournal } from '../../../pkg/dist/journal/file-journal.js';
import type { Slot } from '../../../pkg/dist/journal/journal.js';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { noLock } from './no-lock.js';
import { freshSeed, Random } from './random.js';
import { type PlannedFault, SimulatedDisk } from './simulated-disk.js';

const FIRST_ENTRIES = 70;

/** What the writer knows of each slot it has tried. */
interface Knowledge {
  acknowledged: Map<Slot, Uint8Array>;
  /** Sent, and nobody knows. */
  unknown: { slot: Slot; bytes: Uint8Array } | null;
  compacted: Slot;
  compacting: Slot;
}

function journalOn(disk: SimulatedDisk): FileJournal {
  return new FileJournal('/store', { durability: 'strict', disk, acquire: noLock });
}

function snapshotAt(slot: Slot): Uint8Array {
  return patternBytes(1500, slot);
}

/** Enough entries for a compaction to have something to drop. */
async function prepared(random: Random): Promise<{ disk: SimulatedDisk; knows: Knowledge }> {
  const disk = new SimulatedDisk(random);
  const knows: Knowledge = { acknowledged: new Map(), unknown: null, compacted: 0, compacting: 0 };
  const replica = new Replica(journalOn(disk));
  await replica.open();
  for (let slot = 1; slot <= FIRST_ENTRIES; slot += 1) await append(replica, slot, 40, knows);
  await replica.journal.close();
  return { disk, knows };
}

async function append(
  replica: Replica,
  slot: Slot,
  length: number,
  knows: Knowledge,
): Promise<void> {
  // The rule of the store: while one is unknown, the same bytes go to the same slot or nothing
  // does.
  const unknown = knows.unknown?.slot === slot ? knows.unknown : null;
  const bytes = unknown?.bytes ?? patternBytes(length, slot + length);
  try {
    const stored = await replica.append(bytes);
    assert.equal(stored, slot, 'the entry is in the next slot');
    knows.acknowledged.set(slot, bytes);
    knows.unknown = null;
  } catch (error) {
    const knownLost = error instanceof FencepostError && error.details.stored === false;
    if (!knownLost) knows.unknown = { slot, bytes };
    throw error;
  }
}

async function compact(replica: Replica, slot: Slot, knows: Knowledge): Promise<void> {
  knows.compacting = slot;
  await replica.journal.compact(slot, [snapshotAt(slot)]);
  knows.compacted = slot;
}

/** The workload: appends of several sizes, two compactions, a reopening. */
async function work(disk: SimulatedDisk, knows: Knowledge): Promise<void> {
  const first = new Replica(journalOn(disk));
  await first.open();
  await append(first, FIRST_ENTRIES + 1, 1, knows);
  await append(first, FIRST_ENTRIES + 2, 3000, knows);
  await compact(first, FIRST_ENTRIES + 1, knows);
  await append(first, FIRST_ENTRIES + 3, 700, knows);
  await first.journal.close();
  const second = new Replica(journalOn(disk));
  await second.open();
  await append(second, FIRST_ENTRIES + 4, 2000, knows);
  await compact(second, FIRST_ENTRIES + 4, knows);
  await append(second, FIRST_ENTRIES + 5, 10, knows);
  await second.journal.close();
}

/** Reopens, compares with what the writer knows, and goes on. */
async function requireKept(disk: SimulatedDisk, knows: Knowledge): Promise<void> {
  const replica = new Replica(journalOn(disk));
  const news = await replica.open();
  const snapshotSlot = replica.snapshot?.slot ?? 0;
  if (replica.snapshot !== null) {
    assert.ok(snapshotSlot >= knows.compacted, 'a newer snapshot was there');
    assert.ok(snapshotSlot <= knows.compacting, 'this snapshot was never written');
    expectBytes(replica.snapshot.bytes, snapshotAt(snapshotSlot), 'the snapshot');
  } else {
    assert.equal(knows.compacted, 0, 'the snapshot is lost');
  }
  const acknowledged = Math.max(...knows.acknowledged.keys());
  const unknown = knows.unknown?.slot ?? acknowledged;
  assert.ok(
    replica.slot >= acknowledged,
    `slot ${acknowledged} is lost, the tip is ${replica.slot}`,
  );
  assert.ok(replica.slot <= Math.max(acknowledged, unknown), 'an entry that nobody wrote');
  for (const [slot, bytes] of replica.entries) {
    const expected = knows.acknowledged.get(slot) ?? knows.unknown?.bytes;
    assert.ok(expected, `nobody wrote slot ${slot}`);
    expectBytes(bytes, expected, `slot ${slot}`);
  }
  assert.equal(news.tip?.slot, replica.slot);
  const next = replica.slot + 1;
  assert.equal(await replica.append(patternBytes(100, next)), next);
  await replica.journal.close();
  const again = new Replica(journalOn(disk));
  await again.open();
  assert.equal(again.slot, next);
  assert.deepEqual(again.entries.get(next), patternBytes(100, next));
  await again.journal.close();
}

/** The disk of a process that died between the write of an entry and its flush. */
async function killed(
  start: { disk: SimulatedDisk; knows: Knowledge },
  random: Random,
): Promise<{ disk: SimulatedDisk; knows: Knowledge }> {
  const disk = start.disk.copy(random);
  const knows = copyOf(start.knows);
  const replica = new Replica(journalOn(disk));
  await replica.open();
  disk.fault = { call: disk.calls.length + 1 + random.below(2), code: 'POWER', times: 1 };
  await assert.rejects(append(replica, replica.slot + 1, 3000, knows));
  const found = disk.afterProcessDeath();
  found.calls = [];
  return { disk: found, knows };
}

function failureOf(error: unknown): FencepostError {
  assert.ok(error instanceof FencepostError, String(error));
  return error;
}

function copyOf(knows: Knowledge): Knowledge {
  return { ...knows, acknowledged: new Map(knows.acknowledged) };
}

async function countCalls(start: { disk: SimulatedDisk; knows: Knowledge }): Promise<string[]> {
  const disk = start.disk.copy(new Random(1));
  await work(disk, copyOf(start.knows));
  return disk.calls;
}

describe('the file journal', () => {
  const seed = freshSeed();

  test('keeps what it acknowledged when the power goes at any step', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    const start = await prepared(new Random(seed));
    const calls = (await countCalls(start)).length * 1.3;
    let lost = 0;
    for (let call = 1; call <= calls; call += 1) {
      for (let round = 0; round < 12; round += 1) {
        const disk = start.disk.copy(new Random(seed + call * 100 + round));
        const knows = copyOf(start.knows);
        disk.fault = { call, code: 'POWER', times: 1 };
        const failed = await work(disk, knows).then(
          () => false,
          () => true,
        );
        if (failed) lost += 1;
        await requireKept(disk.afterPowerLoss(), knows);
      }
    }
    context.diagnostic(`${lost} losses of power`);
    assert.ok(lost > 500, `expected the power to go at every step, it went ${lost} times`);
  });

  test('keeps everything it wrote when the process dies at any step', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    const start = await prepared(new Random(seed));
    const calls = (await countCalls(start)).length;
    for (let call = 1; call <= calls; call += 1) {
      const disk = start.disk.copy(new Random(seed + call));
      const knows = copyOf(start.knows);
      disk.fault = { call, code: 'POWER', times: 1 };
      await work(disk, knows).catch(() => undefined);
      const found = disk.afterProcessDeath();
      // Another process serves what it found; then the power goes: that too must be there.
      const reader = new Replica(journalOn(found));
      await reader.open();
      const served = copyOf(knows);
      for (const [slot, bytes] of reader.entries) served.acknowledged.set(slot, bytes);
      await append(reader, reader.slot + 1, 20, served);
      await requireKept(found.afterPowerLoss(), served);
    }
    assert.ok(calls > 50, `expected many steps, got ${calls}`);
  });

  test('leaves everything to the next opening when one fails at any step', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    const start = await prepared(new Random(seed));
    const failed = new Set<string>();
    for (let call = 1, fails = true; fails; call += 1) {
      fails = false;
      for (let round = 0; round < 20; round += 1) {
        const random = new Random(seed + call * 100 + round);
        const { disk, knows } = await killed(start, random);
        disk.fault = { call, code: round % 2 === 0 ? 'EIO' : 'ENOSPC', times: 1 };
        const { journal } = new Replica(journalOn(disk));
        const error = await journal.open('conformance').then(() => null, failureOf);
        if (error === null) continue;
        fails = true;
        failed.add(disk.calls[call - 1] ?? '');
        const code = disk.fault.code === 'EIO' ? 'JOURNAL_UNAVAILABLE' : 'JOURNAL_FULL';
        assert.deepEqual([error.code, error.details.stored], [code, false]);
        // Whoever opens next serves what it finds, and only then the power goes.
        const reader = new Replica(journalOn(disk));
        await reader.open();
        for (const [slot, bytes] of reader.entries) knows.acknowledged.set(slot, bytes);
        await requireKept(disk.afterPowerLoss(), knows);
      }
    }
    context.diagnostic([...failed].join(' '));
    for (const step of ['open', 'read', 'write', 'truncate', 'sync', 'syncDirectory']) {
      assert.ok(failed.has(step), `expected a failed ${step}`);
    }
  });

  test('does not take back what it said of a failed write or flush', async (context) => {
    context.diagnostic(`FENCEPOST_SEED=${seed}`);
    const start = await prepared(new Random(seed));
    const failed: Record<string, number> = {};
    for (let round = 0; round < 600; round += 1) {
      const disk = start.disk.copy(new Random(seed + round));
      const knows = copyOf(start.knows);
      const replica = new Replica(journalOn(disk));
      await replica.open();
      const call = disk.calls.length + 1 + (round % 2);
      disk.fault = { call, code: 'EIO', times: 1 };
      await assert.rejects(append(replica, replica.slot + 1, 2000, knows), FencepostError);
      const step = disk.calls[call - 1] ?? '';
      failed[step] = (failed[step] ?? 0) + 1;
      await believeReader(replica, knows);
      await requireKept(disk.afterPowerLoss(), knows);
    }
    context.diagnostic(JSON.stringify(failed));
    assert.deepEqual(Object.keys(failed).sort(), ['sync', 'write']);
  });

  for (const code of ['ENOSPC', 'EIO'] as const) {
    for (const times of [1, 3]) {
      test(`tells the truth through ${times} x ${code}, and then works`, async (context) => {
        context.diagnostic(`FENCEPOST_SEED=${seed}`);
        const start = await prepared(new Random(seed));
        const calls = (await countCalls(start)).length;
        const outcomes = new Map<string, number>();
        for (let call = 1; call <= calls; call += 1) {
          for (let round = 0; round < 4; round += 1) {
            const random = new Random(seed + call * 10 + round);
            const fault = { call, code, times };
            const outcome = await workThroughFault(start, fault, random);
            outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          }
        }
        context.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
        assert.ok((outcomes.get('OUTCOME_UNKNOWN') ?? 0) > 0, 'a failed flush is unknown');
        const certain = code === 'ENOSPC' ? 'JOURNAL_FULL' : 'JOURNAL_UNAVAILABLE';
        assert.ok((outcomes.get(certain) ?? 0) > 0, `expected ${certain}`);
      });
    }
  }
});

/**
 * One open journal, one fault in the middle. Either every call is repeated until it works, or the
 * power goes right after the first failure, when nothing has been put right yet.
 */
async function workThroughFault(
  start: { disk: SimulatedDisk; knows: Knowledge },
  fault: PlannedFault,
  random: Random,
): Promise<string> {
  const disk = start.disk.copy(random);
  const knows = copyOf(start.knows);
  const replica = new Replica(journalOn(disk));
  await replica.open();
  disk.fault = { ...fault, call: fault.call + disk.calls.length };
  const triesMax = random.below(2) === 0 ? 10 : 1;
  let outcome = 'nothing failed';
  const insist = async (attempt: () => Promise<void>): Promise<boolean> => {
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        await attempt();
        return true;
      } catch (error) {
        assert.ok(error instanceof FencepostError, String(error));
        outcome = error.code;
      }
    }
    assert.equal(triesMax, 1, 'the journal does not recover');
    return false;
  };
  for (let slot = FIRST_ENTRIES + 1; slot <= FIRST_ENTRIES + 6; slot += 1) {
    if (!(await insist(() => append(replica, slot, 300 * (slot % 5) + 1, knows)))) break;
    if (slot % 3 === 0 && !(await insist(() => compact(replica, slot, knows)))) break;
  }
  await believeReader(replica, knows);
  const found = random.below(2) === 0 ? disk.afterPowerLoss() : disk.afterProcessDeath();
  await requireKept(found, knows);
  return outcome;
}

/** When a reader was told that the slot of an unknown entry is free, that entry never comes. */
async function believeReader({ journal }: Replica, knows: Knowledge): Promise<void> {
  const reader = new Replica(journal);
  const told = await reader.sync().then(
    () => reader.slot,
    () => null,
  );
  if (told !== null && knows.unknown !== null && told < knows.unknown.slot) knows.unknown = null;
}
