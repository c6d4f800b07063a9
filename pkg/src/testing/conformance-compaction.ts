/** The part of the conformance suite about snapshots and the floor. */
import type { Journal, News } from '../journal/journal.js';
import type { Case } from './case.js';
import { expect, expectBytes, expectCode, patternBytes, Replica, tagFor } from './replica.js';

const SNAPSHOT = patternBytes(3 * (1 << 20) + 17, 5);

export const compactionCases: Record<string, Case> = {
  async a_snapshot_replaces_the_entries_up_to_it_and_the_rest_follows_without_a_gap(under) {
    const replica = await filled(under, 200);
    await replica.journal.compact(150, [SNAPSHOT]);
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
    await replica.journal.compact(8, [SNAPSHOT]);
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
    await replica.journal.compact(200, [SNAPSHOT]);
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
    await replica.journal.compact(200, [SNAPSHOT]);
    for (const slot of [200, 199, 1, 0]) await replica.journal.compact(slot, [patternBytes(9, 9)]);
    await replica.journal.close();
    const reopened = new Replica(await under.journal());
    const news = await reopened.open();
    const { snapshot } = reopened;
    expect(snapshot?.slot === 200, `expected the first one, got ${snapshot?.slot}`);
    expectBytes(snapshot.bytes, SNAPSHOT, 'the snapshot');
    expect(news.tip?.slot === 202, `expected the tip at slot 202, got ${news.tip?.slot}`);
    await reopened.journal.close();
  },

  async compacting_beyond_the_tip_is_refused(under) {
    const replica = await filled(under, 3);
    await expectCode(replica.journal.compact(4, [SNAPSHOT]), 'LOG_REPLACED');
    const late = new Replica(replica.journal);
    await late.sync();
    expect(late.snapshot === null && late.slot === 3, 'nothing has changed');
    await replica.journal.close();
  },

  async a_second_compaction_takes_the_place_of_the_first(under) {
    const replica = await filled(under, 300);
    await replica.journal.compact(100, [SNAPSHOT]);
    await replica.journal.compact(299, [patternBytes(1, 3)]);
    const late = new Replica(replica.journal);
    await late.sync();
    expect(late.snapshot?.slot === 299, `expected the second snapshot, got ${late.snapshot?.slot}`);
    expectBytes(late.snapshot.bytes, patternBytes(1, 3), 'the snapshot');
    const last = late.entries.get(300);
    expect(last !== undefined, 'slot 300 is missing');
    expectBytes(last, patternBytes(5, 300), 'slot 300');
    await replica.journal.close();
  },

  async a_snapshot_comes_and_goes_in_pieces_whose_bytes_are_copied(under) {
    const replica = await filled(under, 200);
    async function* pieces() {
      const piece = new Uint8Array(1 << 20);
      for (let at = 0; at < SNAPSHOT.byteLength; at += piece.byteLength) {
        const part = SNAPSHOT.subarray(at, at + piece.byteLength);
        piece.set(part);
        yield piece.subarray(0, part.byteLength);
        piece.fill(0);
        await null;
      }
    }
    await replica.journal.compact(200, pieces());
    for (const round of [1, 2]) {
      const news = await new Replica(replica.journal).sync();
      expect(news.snapshot?.slot === 200, 'expected the snapshot');
      const late = await newsFromStart(replica);
      expect(late.snapshot !== undefined, 'expected the snapshot');
      let at = 0;
      for await (const piece of late.snapshot.parts) {
        const expected = SNAPSHOT.subarray(at, at + piece.byteLength);
        expectBytes(piece, expected, `the snapshot from byte ${at}, reading ${round}`);
        at += piece.byteLength;
        piece.fill(0xff);
      }
      expect(at === SNAPSHOT.byteLength, `expected ${SNAPSHOT.byteLength} bytes, got ${at}`);
    }
    await replica.journal.close();
  },

  async commits_go_on_while_a_snapshot_is_written(under) {
    const replica = await filled(under, 100);
    async function* pieces() {
      yield SNAPSHOT.subarray(0, 1 << 20);
      for (let slot = 101; slot <= 110; slot += 1) await replica.append(patternBytes(5, slot));
      yield SNAPSHOT.subarray(1 << 20);
    }
    await replica.journal.compact(100, pieces());
    await expectAfter(replica.journal, 100, 110);
    await replica.journal.close();
  },

  async who_knows_nothing_begins_at_the_snapshot_even_if_all_entries_can_still_be_read(under) {
    const replica = await filled(under, 2);
    await replica.journal.compact(1, [SNAPSHOT]);
    await expectAfter(replica.journal, 1, 2);
    await replica.journal.close();
    const reopened = new Replica(await under.journal());
    await reopened.open();
    expect(reopened.snapshot?.slot === 1, 'expected the snapshot after reopening');
    await reopened.journal.close();
  },

  async an_interrupted_compaction_leaves_the_older_snapshot_as_it_was(under) {
    const replica = await filled(under, 200);
    await replica.journal.compact(100, [SNAPSHOT]);
    async function* pieces() {
      yield patternBytes(2 << 20, 7);
      throw new Error('interrupted');
    }
    const failed = await replica.journal.compact(150, pieces()).then(
      () => false,
      () => true,
    );
    expect(failed, 'a compaction whose parts throw must reject');
    await expectAfter(replica.journal, 100, 200);
    await replica.journal.close();
    const journal = await under.journal();
    const reopened = new Replica(journal);
    await reopened.open();
    await expectAfter(journal, 100, 200);
    await journal.compact(200, [patternBytes(3, 3)]);
    const late = new Replica(journal);
    await late.sync();
    expect(late.snapshot?.slot === 200, 'the next compaction takes its place');
    expectBytes(late.snapshot.bytes, patternBytes(3, 3), 'the snapshot');
    await journal.close();
  },

  async a_snapshot_that_is_replaced_while_it_is_read_is_whole_or_says_so(under) {
    const replica = await filled(under, 300);
    await replica.journal.compact(100, [SNAPSHOT]);
    const { snapshot } = await newsFromStart(replica);
    expect(snapshot !== undefined, 'expected the snapshot');
    const pieces = snapshot.parts[Symbol.asyncIterator]();
    const first = await pieces.next();
    await replica.journal.compact(300, [patternBytes(1, 3)]);
    let at = 0;
    try {
      for (let read = first; read.done !== true; read = await pieces.next()) {
        const expected = SNAPSHOT.subarray(at, at + read.value.byteLength);
        expectBytes(read.value, expected, `the snapshot from byte ${at}`);
        at += read.value.byteLength;
      }
      expect(at === SNAPSHOT.byteLength, `the old snapshot ends at byte ${at}`);
    } catch (error) {
      const { details } = error as { details?: { replaced?: unknown } };
      if (details?.replaced !== true) throw error;
    }
    await replica.journal.close();
  },
};

/** What a replica is told that knows nothing. */
async function newsFromStart(replica: Replica): Promise<News> {
  const seen: { news: News | null } = { news: null };
  await replica.journal.commit(0, (news) => {
    seen.news = news;
    return null;
  });
  expect(seen.news !== null, 'commit must call decide');
  return seen.news;
}

/** There is `SNAPSHOT` at a slot, and all entries behind it. */
async function expectAfter(journal: Journal, slot: number, tip: number): Promise<void> {
  const late = new Replica(journal);
  await late.sync();
  expect(late.snapshot?.slot === slot, `expected the snapshot at ${slot}`);
  expectBytes(late.snapshot.bytes, SNAPSHOT, 'the snapshot');
  expect(late.slot === tip, `expected the tip at slot ${tip}, got ${late.slot}`);
}

async function filled(under: Parameters<Case>[0], entries: number): Promise<Replica> {
  const replica = new Replica(await under.journal());
  await replica.open();
  for (let slot = 1; slot <= entries; slot += 1) await replica.append(patternBytes(5, slot));
  return replica;
}
