/** The part of the conformance suite about several journals on one storage. */
import type { Case } from './case.js';
import { expect, expectBytes, patternBytes, Replica } from './replica.js';

export const sharedCases: Record<string, Case> = {
  async each_of_two_sees_what_the_other_has_committed(under) {
    const [left, right] = await openBoth(under);
    await left.append(patternBytes(5, 1));
    await right.append(patternBytes(5, 2));
    await right.append(patternBytes(5, 3));
    await left.sync();
    await right.sync();
    expect(left.slot === 3 && right.slot === 3, `expected both at 3: ${left.slot}, ${right.slot}`);
    await closeBoth(left, right);
  },

  async two_that_write_at_the_same_time_each_decide_on_the_newest_entry(under) {
    const [left, right] = await openBoth(under);
    const write = async (replica: Replica): Promise<number[]> => {
      const slots: number[] = [];
      for (let count = 0; count < 40; count += 1) {
        slots.push(await replica.append(patternBytes(7, replica.writer * 1000 + count)));
      }
      return slots;
    };
    const [leftSlots, rightSlots] = await Promise.all([write(left), write(right)]);
    const all = new Replica(left.journal);
    await all.sync();
    expect(all.slot === 80, `expected 80 entries, got ${all.slot}`);
    for (const [writer, slots] of [leftSlots, rightSlots].entries()) {
      slots.forEach((slot, count) => {
        const bytes = all.entries.get(slot);
        expect(bytes !== undefined, `slot ${slot} is missing`);
        expectBytes(bytes, patternBytes(7, writer * 1000 + count), `slot ${slot}`);
      });
    }
    await closeBoth(left, right);
  },

  async one_that_slept_through_a_compaction_gets_the_snapshot_and_the_next_slot(under) {
    const [left, right] = await openBoth(under);
    for (let slot = 1; slot <= 200; slot += 1) await left.append(patternBytes(5, slot));
    await left.journal.compact(200, [patternBytes(50, 200)]);
    expect((await right.append(patternBytes(5, 1))) === 201, 'the next entry is in slot 201');
    expect(right.snapshot?.slot === 200, 'it started again from the snapshot');
    await left.sync();
    expect(left.slot === 201, `expected slot 201, got ${left.slot}`);
    await closeBoth(left, right);
  },

  async one_that_is_a_little_late_gets_entries_and_no_snapshot(under) {
    const [left, right] = await openBoth(under);
    for (let slot = 1; slot <= 20; slot += 1) await left.append(patternBytes(5, slot));
    await right.sync();
    await left.append(patternBytes(5, 21));
    await left.journal.compact(21, [patternBytes(50, 21)]);
    const news = await right.sync();
    expect(
      news.snapshot === undefined,
      'the newest entries are kept behind a snapshot for a while',
    );
    await closeBoth(left, right);
  },

  async an_older_snapshot_of_one_that_slept_does_not_replace_a_newer_one(under) {
    const [left, right] = await openBoth(under);
    for (let slot = 1; slot <= 200; slot += 1) await left.append(patternBytes(5, slot));
    await left.journal.compact(200, [patternBytes(50, 200)]);
    await right.journal.compact(100, [patternBytes(50, 100)]);
    const late = new Replica(right.journal);
    await late.sync();
    expect(late.snapshot?.slot === 200, `expected the newer one, got ${late.snapshot?.slot}`);
    expectBytes(late.snapshot.bytes, patternBytes(50, 200), 'the snapshot');
    await closeBoth(left, right);
  },

  async closing_one_leaves_the_other_alone(under) {
    const [left, right] = await openBoth(under);
    await left.append(patternBytes(5, 1));
    await left.journal.close();
    expect((await right.append(patternBytes(5, 2))) === 2, 'the other one goes on');
    await right.journal.close();
  },

  async one_hears_of_the_commits_of_the_other(under) {
    const [left, right] = await openBoth(under);
    if (right.journal.watch !== undefined) {
      const heard = new Promise<void>((resolve) => {
        right.journal.watch?.(resolve);
      });
      await left.append(patternBytes(5, 1));
      await heard;
      await right.sync();
      expect(right.slot === 1, 'what the hint was about is there');
    }
    await closeBoth(left, right);
  },
};

async function openBoth(under: Parameters<Case>[0]): Promise<[Replica, Replica]> {
  const left = new Replica(await under.journal(), 0);
  const right = new Replica(await under.journal(), 1);
  await Promise.all([left.open(), right.open()]);
  return [left, right];
}

async function closeBoth(left: Replica, right: Replica): Promise<void> {
  await left.journal.close();
  await right.journal.close();
}
