/** The part of the conformance suite about snapshots and the floor. */
import type { Case } from './case.js';
import { expect, expectBytes, expectCode, patternBytes, Replica, tagFor } from './replica.js';

const SNAPSHOT = patternBytes(3 * (1 << 20) + 17, 5);

export const compactionCases: Record<string, Case> = {
  async a_snapshot_replaces_the_entries_up_to_it_and_the_rest_follows_without_a_gap(under) {
    const replica = await filled(under, 200);
    await replica.journal.compact(150, SNAPSHOT);
    const late = new Replica(replica.journal);
    await late.sync();
    expect(late.snapshot?.slot === 150, `expected the snapshot, got ${late.snapshot?.slot}`);
    expectBytes(late.snapshot.bytes, SNAPSHOT, 'the snapshot');
    expect(late.entries.size === 50, `expected 50 entries, got ${late.entries.size}`);
    for (const [slot, bytes] of late.entries) {
      expectBytes(bytes, patternBytes(5, slot), `slot ${slot}`);
    }
    await replica.journal.close();
  },

  async who_is_beyond_the_snapshot_gets_entries_only(under) {
    const replica = await filled(under, 10);
    await replica.journal.compact(8, SNAPSHOT);
    for (const after of [8, 9, 10]) {
      const late = new Replica(replica.journal);
      late.slot = after;
      const news = await late.sync();
      expect(news.snapshot === undefined, `after slot ${after} nothing is compacted away`);
    }
    await replica.journal.close();
  },

  async compacting_everything_keeps_the_tip_and_the_floor(under) {
    const replica = await filled(under, 200);
    await replica.journal.compact(200, SNAPSHOT);
    const news = await replica.sync();
    expect(news.tip?.slot === 200, `expected the tip at slot 200, got ${news.tip?.slot}`);
    expectBytes(news.tip.tag, tagFor(200), 'the tag of the tip');
    expect((await replica.append(patternBytes(5, 201))) === 201, 'the next entry is in slot 201');
    await replica.journal.close();
    const reopened = new Replica(await under.journal());
    await reopened.open();
    expect(reopened.snapshot?.slot === 200, 'the snapshot is there after reopening');
    expectBytes(reopened.snapshot.bytes, SNAPSHOT, 'the snapshot');
    expect((await reopened.append(patternBytes(5, 202))) === 202, 'the next is in slot 202');
    await reopened.journal.close();
  },

  async compacting_at_or_below_the_snapshot_changes_nothing(under) {
    const replica = await filled(under, 202);
    await replica.journal.compact(200, SNAPSHOT);
    for (const slot of [200, 199, 1, 0]) await replica.journal.compact(slot, patternBytes(9, 9));
    await replica.journal.close();
    const reopened = new Replica(await under.journal());
    const news = await reopened.open();
    expect(news.snapshot?.slot === 200, `expected the first one, got ${news.snapshot?.slot}`);
    expectBytes(news.snapshot.bytes, SNAPSHOT, 'the snapshot');
    expect(news.tip?.slot === 202, `expected the tip at slot 202, got ${news.tip?.slot}`);
    await reopened.journal.close();
  },

  async compacting_beyond_the_tip_is_refused(under) {
    const replica = await filled(under, 3);
    await expectCode(replica.journal.compact(4, SNAPSHOT), 'LOG_REPLACED');
    const late = new Replica(replica.journal);
    await late.sync();
    expect(late.snapshot === null && late.slot === 3, 'nothing has changed');
    await replica.journal.close();
  },

  async a_second_compaction_takes_the_place_of_the_first(under) {
    const replica = await filled(under, 300);
    await replica.journal.compact(100, SNAPSHOT);
    await replica.journal.compact(299, patternBytes(1, 3));
    const late = new Replica(replica.journal);
    await late.sync();
    expect(late.snapshot?.slot === 299, `expected the second snapshot, got ${late.snapshot?.slot}`);
    expectBytes(late.snapshot.bytes, patternBytes(1, 3), 'the snapshot');
    const last = late.entries.get(300);
    expect(last !== undefined, 'slot 300 is missing');
    expectBytes(last, patternBytes(5, 300), 'slot 300');
    await replica.journal.close();
  },

  async snapshot_bytes_are_copied(under) {
    const replica = await filled(under, 200);
    const bytes = patternBytes(50, 1);
    const compacted = replica.journal.compact(200, bytes);
    bytes.fill(0);
    await compacted;
    for (const round of [1, 2]) {
      const late = new Replica(replica.journal);
      const news = await late.sync();
      expect(news.snapshot !== undefined, 'expected the snapshot');
      expectBytes(news.snapshot.bytes, patternBytes(50, 1), `the snapshot, reading ${round}`);
      news.snapshot.bytes.fill(0xff);
    }
    await replica.journal.close();
  },
};

async function filled(under: Parameters<Case>[0], entries: number): Promise<Replica> {
  const replica = new Replica(await under.journal());
  await replica.open();
  for (let slot = 1; slot <= entries; slot += 1) await replica.append(patternBytes(5, slot));
  return replica;
}
