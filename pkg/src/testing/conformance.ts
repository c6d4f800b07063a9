/**
 * What every journal must do. A journal of your own is done when this passes:
 *
 * ```ts
 * import { test } from 'node:test'
 * import { journalConformance } from 'fencepost/testing'
 *
 * journalConformance(() => ({ journal: () => myJournal(somewhereEmpty()) }), { test, shared: true
 * })
 * ```
 *
 * It uses no test framework and no runtime, so it runs in a browser as well.
 */
import type { Journal, News } from '../journal/journal.js';
import type { Case, JournalUnderTest } from './case.js';
import { compactionCases } from './conformance-compaction.js';
import { sharedCases } from './conformance-shared.js';
import { expect, expectBytes, expectCode, patternBytes, Replica, tagFor } from './replica.js';

export interface ConformanceOptions {
  /** Registers a test; that of `node:test` fits. */
  test(name: string, body: () => Promise<void>): unknown;
  /** Whether several journals may be open on one storage at the same time. Default false. */
  shared?: boolean;
}

/** Registers the whole suite. `make` is called once for each test. */
export function journalConformance(
  make: () => JournalUnderTest | Promise<JournalUnderTest>,
  options: ConformanceOptions,
): void {
  const cases = { ...basicCases, ...compactionCases, ...(options.shared ? sharedCases : {}) };
  for (const [name, body] of Object.entries(cases)) {
    options.test(name.replaceAll('_', ' '), async () => {
      const under = await make();
      try {
        await body(under);
      } finally {
        await under.dispose?.();
      }
    });
  }
}

const basicCases: Record<string, Case> = {
  async an_empty_journal_has_no_tip_no_entries_and_no_snapshot(under) {
    const replica = new Replica(await under.journal());
    expectEmpty(await replica.open());
    expectEmpty(await replica.sync());
    await replica.journal.close();
  },

  async entries_get_the_slots_from_1_on_and_come_back_in_order(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    for (let slot = 1; slot <= 20; slot += 1) {
      expect((await replica.append(patternBytes(slot, slot))) === slot, `expected slot ${slot}`);
    }
    const late = new Replica(replica.journal);
    const news = await late.sync();
    expect(late.slot === 20, `expected 20 entries, got ${late.slot}`);
    expectTip(news, 20);
    for (const [slot, bytes] of late.entries) {
      expectBytes(bytes, patternBytes(slot, slot), `slot ${slot}`);
    }
    await replica.journal.close();
  },

  async decide_is_given_exactly_what_follows_on_after(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    for (let slot = 1; slot <= 5; slot += 1) await replica.append(patternBytes(3, slot));
    for (let after = 0; after <= 5; after += 1) {
      const news = await newsAfter(replica.journal, after);
      expect(news.snapshot === undefined, 'nothing was compacted');
      expect(news.entries.length === 5 - after, `after ${after} came ${news.entries.length}`);
      expectTip(news, 5);
      const [next] = news.entries;
      if (next) expectBytes(next, patternBytes(3, after + 1), `the entry after ${after}`);
    }
    await replica.journal.close();
  },

  async asked_from_beyond_the_tip_it_answers_no_entries_and_the_tip(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    const empty = await newsAfter(replica.journal, 7);
    expectEmpty(empty);
    await replica.append(patternBytes(3, 1));
    const news = await newsAfter(replica.journal, 7);
    expect(
      news.entries.length === 0 && news.snapshot === undefined,
      'expected nothing but the tip',
    );
    expectTip(news, 1);
    await replica.journal.close();
  },

  async null_from_decide_stores_nothing(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    await replica.append(patternBytes(3, 1));
    await replica.journal.commit(0, () => null);
    const news = await newsAfter(replica.journal, 0);
    expect(news.entries.length === 1, `expected 1 entry, got ${news.entries.length}`);
    await replica.journal.close();
  },

  async what_decide_throws_comes_out_of_commit_and_nothing_is_stored(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    const thrown = new Error('decide has thrown');
    const commit = replica.journal.commit(0, () => {
      throw thrown;
    });
    const outcome = await commit.catch((error: unknown) => error);
    expect(outcome === thrown, `expected the same error, got ${String(outcome)}`);
    expectEmpty(await replica.sync());
    expect((await replica.append(patternBytes(3, 1))) === 1, 'the next entry is in slot 1');
    await replica.journal.close();
  },

  async bytes_and_tags_come_back_exactly_from_one_byte_to_one_mebibyte(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    const lengths = [1, 2, 255, 256, 65_536, 1 << 20];
    for (const length of lengths) await replica.append(patternBytes(length, length));
    const expectAll = (news: News): void => {
      expectTip(news, lengths.length);
      lengths.forEach((length, index) => {
        const bytes = news.entries[index];
        expect(bytes !== undefined, `slot ${index + 1} is missing`);
        expectBytes(bytes, patternBytes(length, length), `an entry of ${length} bytes`);
      });
    };
    expectAll(await newsAfter(replica.journal, 0));
    await replica.journal.close();
    const reopened = new Replica(await under.journal());
    expectAll(await reopened.open());
    await reopened.journal.close();
  },

  async bytes_belong_to_the_journal_once_they_were_given_and_to_the_reader_once_read(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    // A view into something larger, as it comes out of WebAssembly memory.
    const memory = patternBytes(64, 9);
    const bytes = memory.subarray(8, 24);
    const tag = tagFor(1);
    const committed = replica.journal.commit(0, () => {
      // Whatever happens to the bytes after decide has returned is too late.
      queueMicrotask(() => memory.fill(0));
      queueMicrotask(() => tag.fill(0));
      return { bytes, tag };
    });
    await committed;
    const first = await newsAfter(replica.journal, 0);
    for (const entry of first.entries) {
      expectBytes(entry, patternBytes(64, 9).subarray(8, 24), 'the entry');
      entry.fill(0xff);
    }
    first.tip?.tag.fill(0xff);
    const second = await newsAfter(replica.journal, 0);
    expectTip(second, 1);
    for (const entry of second.entries) {
      expectBytes(entry, patternBytes(64, 9).subarray(8, 24), 'the entry, read again');
    }
    await replica.journal.close();
  },

  async commits_that_are_started_together_are_each_decided_on_the_newest_entry(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    const started = Array.from({ length: 50 }, (_, index) => {
      const follower = new Replica(replica.journal, index);
      return follower.append(patternBytes(4, index));
    });
    const slots = await Promise.all(started);
    expect(new Set(slots).size === 50, 'every entry has a slot of its own');
    expect(Math.max(...slots) === 50, `expected slots up to 50, got ${Math.max(...slots)}`);
    const all = new Replica(replica.journal);
    await all.sync();
    slots.forEach((slot, index) => {
      const bytes = all.entries.get(slot);
      expect(bytes !== undefined, `slot ${slot} is missing`);
      expectBytes(bytes, patternBytes(4, index), `slot ${slot}`);
    });
    await replica.journal.close();
  },

  async everything_is_there_after_reopening(under) {
    const before = new Replica(await under.journal());
    await before.open();
    for (let slot = 1; slot <= 10; slot += 1) await before.append(patternBytes(100, slot));
    await before.journal.close();
    const after = new Replica(await under.journal());
    expectTip(await after.open(), 10);
    for (const [slot, bytes] of after.entries) {
      expectBytes(bytes, patternBytes(100, slot), `slot ${slot}`);
    }
    expect((await after.append(patternBytes(1, 1))) === 11, 'the next entry is in slot 11');
    await after.journal.close();
  },

  async it_holds_the_name_of_its_store_and_refuses_another(under) {
    const replica = new Replica(await under.journal());
    await replica.open('näme / of "a" store');
    await replica.append(patternBytes(3, 1));
    await replica.journal.close();
    const journal = await under.journal();
    await expectCode(journal.open('another'), 'INVALID_ARGUMENT');
    await new Replica(journal).open('näme / of "a" store');
    await journal.close();
  },

  async after_close_everything_rejects_and_closing_again_does_not(under) {
    const journal = await under.journal();
    await expectCode(
      journal.commit(0, () => null),
      'STORE_CLOSED',
    );
    const replica = new Replica(journal);
    await replica.open();
    const accepted = replica.append(patternBytes(3, 1));
    await journal.close();
    expect((await accepted) === 1, 'close waits for what was accepted');
    await expectCode(
      journal.commit(0, () => null),
      'STORE_CLOSED',
    );
    await expectCode(journal.compact(1, [patternBytes(3, 1)]), 'STORE_CLOSED');
    await journal.close();
  },

  async watchers_hear_of_commits_until_they_stop_but_never_before_commit_returned(under) {
    const replica = new Replica(await under.journal());
    await replica.open();
    const { journal } = replica;
    if (journal.watch !== undefined) {
      let returned = false;
      const heard = new Promise<boolean>((resolve) => {
        journal.watch?.(() => resolve(returned));
      });
      let stoppedHeard = 0;
      journal.watch(() => {
        stoppedHeard += 1;
      })();
      const appended = replica.append(patternBytes(3, 1));
      returned = true;
      await appended;
      expect(await heard, 'a watcher was called before commit had returned');
      expect(stoppedHeard === 0, 'a watcher was called after it had stopped');
    }
    await journal.close();
  },
};

async function newsAfter(journal: Journal, after: number): Promise<News> {
  let told: News | null = null;
  await journal.commit(after, (news) => {
    told = news;
    return null;
  });
  expect(told !== null, 'commit must call decide');
  return told;
}

function expectEmpty(news: News): void {
  expect(news.tip === null, 'an empty journal has no tip');
  expect(news.entries.length === 0, 'an empty journal has no entries');
  expect(news.snapshot === undefined, 'an empty journal has no snapshot');
}

function expectTip(news: News, slot: number): void {
  expect(news.tip?.slot === slot, `expected the tip at slot ${slot}, got ${news.tip?.slot}`);
  expectBytes(news.tip.tag, tagFor(slot), 'the tag of the tip');
}
