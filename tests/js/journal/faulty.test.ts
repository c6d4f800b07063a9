/** The faulty journal does what it was told to, and nothing else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { memory } from '../../../pkg/dist/journal/memory.js';
import { journalConformance } from '../../../pkg/dist/testing/conformance.js';
import { type Fault, type FaultyJournal, faulty } from '../../../pkg/dist/testing/faulty.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';

async function opened(): Promise<{ journal: FaultyJournal; replica: Replica }> {
  const journal = faulty(memory());
  const replica = new Replica(journal);
  await replica.open();
  return { journal, replica };
}

describe('a faulty journal without faults', () => {
  journalConformance(
    () => {
      const journal = faulty(memory());
      return { journal: () => journal };
    },
    { test, shared: true },
  );
});

describe('a planned fault', () => {
  const outcomes: [Fault, { code: string | null; slot: number }][] = [
    ['refuse', { code: 'JOURNAL_UNAVAILABLE', slot: 0 }],
    ['full', { code: 'JOURNAL_FULL', slot: 0 }],
    ['lose-request', { code: null, slot: 0 }],
    ['lose-reply', { code: null, slot: 1 }],
  ];
  for (const [fault, { code, slot }] of outcomes) {
    test(`${fault} stores ${slot === 1 ? 'the entry' : 'nothing'} and fails once`, async () => {
      const { journal, replica } = await opened();
      journal.plan('commit', fault);
      const error = await replica.append(patternBytes(5, 1)).catch((thrown: unknown) => thrown);
      const known = error instanceof FencepostError ? error : null;
      assert.ok(error instanceof Error);
      assert.equal(known?.code ?? null, code);
      assert.equal(known?.details.stored, code === null ? undefined : false);
      await replica.sync();
      assert.equal(replica.slot, slot);
      assert.equal(await replica.append(patternBytes(5, 2)), slot + 1);
    });
  }

  test('of open and compact is told and leaves commit alone', async () => {
    const journal = faulty(memory());
    journal.plan('open', 'refuse');
    await assert.rejects(journal.open('faulty'), { code: 'JOURNAL_UNAVAILABLE' });
    const replica = new Replica(journal);
    await replica.open();
    await replica.append(patternBytes(5, 1));
    journal.plan('compact', 'full', 'lose-reply');
    await assert.rejects(journal.compact(1, [patternBytes(5, 1)]), { code: 'JOURNAL_FULL' });
    await assert.rejects(journal.compact(1, [patternBytes(5, 1)]), /the reply of compact was lost/);
    assert.equal(await replica.append(patternBytes(5, 2)), 2);
  });

  test('outrun asks decide again, with what another writer stored meanwhile', async () => {
    const { journal, replica } = await opened();
    await replica.append(patternBytes(5, 1));
    journal.plan('commit', 'outrun');
    const other = new Replica(journal);
    const asked: number[] = [];
    const outrun = journal.commit(0, (news) => {
      asked.push(news.entries.length);
      return { bytes: patternBytes(5, 3), tag: new Uint8Array(32) };
    });
    const between = other.append(patternBytes(5, 2));
    await Promise.all([outrun, between]);
    await replica.sync();
    assert.equal(replica.slot, 3);
    assert.equal(asked[0], 1);
    assert.equal(asked.length, 2);
  });

  test('hold-request sends late, hold-reply answers late', async () => {
    const { journal, replica } = await opened();
    journal.plan('commit', 'hold-request', 'hold-reply');
    const late = replica.append(patternBytes(5, 1));
    assert.equal(journal.held, 1);
    const early = new Replica(journal).append(patternBytes(5, 2));
    const reader = new Replica(journal);
    await reader.sync();
    assert.equal(reader.slot, 1, 'only the second one is stored');
    journal.release();
    assert.deepEqual(await Promise.all([late, early]), [2, 1]);
    assert.equal(journal.held, 0);
  });

  test('can be chosen by the call instead', async () => {
    const seen: string[] = [];
    const journal = faulty(memory(), {
      choose(operation, call) {
        seen.push(`${operation} ${call}`);
        return operation === 'commit' && call === 2 ? 'refuse' : null;
      },
    });
    const replica = new Replica(journal);
    await replica.open();
    await replica.append(patternBytes(5, 1));
    await assert.rejects(replica.append(patternBytes(5, 2)), { code: 'JOURNAL_UNAVAILABLE' });
    assert.equal(await replica.append(patternBytes(5, 2)), 2);
    assert.deepEqual(seen, ['open 1', 'commit 1', 'commit 2', 'commit 3']);
  });

  test('leaves out what the journal inside leaves out', () => {
    const { open, commit, compact, close } = memory();
    const plain = faulty({ open, commit, compact, close });
    assert.equal(plain.watch, undefined);
    assert.equal(plain.now, undefined);
    assert.equal(faulty({ open, commit, compact, close, now: () => 7 }).now?.(), 7);
  });
});
