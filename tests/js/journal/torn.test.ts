/** What a crash may leave at the end of a log is cut off and told; anything else is refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { file } from 'fencepost/file';
import { FRAME_BYTES_MAX } from '../../../pkg/dist/journal/frame.js';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { flipped, LENGTHS, openWith, original, refuses } from './damaged.js';
import { copyOf } from './directory.js';

const SECTOR = 512;

/** What is opened after a repair takes entries again, and keeps them. */
async function goesOn(path: string, tip: number): Promise<void> {
  const replica = new Replica(file(path));
  const news = await replica.open('damage');
  assert.equal(news.torn, undefined, 'a torn tail is told once');
  assert.equal(await replica.append(patternBytes(33, tip)), tip + 1);
  await replica.journal.close();
  const again = new Replica(file(path));
  await again.open('damage');
  expectBytes(again.entries.get(tip + 1) ?? new Uint8Array(0), patternBytes(33, tip), 'the next');
  await again.journal.close();
}

describe('the log of a killed process, cut off at any byte', () => {
  for (const compactAt of [0, 3, 5]) {
    test(`opens with the whole entries before it (snapshot at ${compactAt})`, async () => {
      const { path, journal, bounds } = await original({ ends: 'killed', compactAt });
      for (let length = bounds[0] ?? 0; length <= journal.byteLength; length += 1) {
        const cut = journal.subarray(0, length);
        const tip = bounds.filter((bound) => bound <= length).length - 1;
        if (tip < compactAt) {
          await refuses(path, { journal: cut }, 'JOURNAL_CORRUPT', /newer than its end/);
          continue;
        }
        const { news, error, copy } = await openWith(path, { journal: cut });
        assert.equal(error, undefined, `cut at ${length}: ${error}`);
        assert.equal(news?.tip?.slot ?? 0, tip, `cut at ${length}`);
        assert.equal(news?.entries.length, tip - compactAt, `cut at ${length}`);
        const bytes = length - (bounds[tip] ?? 0);
        const torn = { bytes, path: join(copy, 'journal'), slot: tip, why: 'torn-write' };
        assert.deepEqual(news?.torn, bytes > 0 ? torn : undefined, `cut at ${length}`);
        await goesOn(copy, tip);
      }
    });
  }

  test('is refused when even its head is cut', async () => {
    const { path, journal, bounds } = await original({ ends: 'killed' });
    for (let length = 0; length < (bounds[0] ?? 0); length += 1) {
      const cut = journal.subarray(0, length);
      await refuses(path, { journal: cut }, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
    }
  });
});

describe('the log of a killed process', () => {
  test('loses its last entry to one wrong bit in that, and tells it', async () => {
    const { path, journal, bounds } = await original({ ends: 'killed' });
    const start = bounds.at(-2) ?? 0;
    for (let at = start; at < journal.byteLength; at += 1) {
      const changed = flipped(journal, at, at % 8);
      const { news, error } = await openWith(path, { journal: changed });
      assert.equal(error, undefined, `bit ${at}: ${error}`);
      assert.equal(news?.tip?.slot, LENGTHS.length - 1, `bit ${at}`);
      assert.equal(news?.torn?.bytes, journal.byteLength - start, `bit ${at}`);
    }
  });

  test('may end in zeros, but not in more of them than one entry takes', async () => {
    const { path, journal } = await original({ ends: 'killed' });
    const padded = (bytes: number) => Buffer.concat([journal, Buffer.alloc(bytes)]);
    const { news } = await openWith(path, { journal: padded(FRAME_BYTES_MAX) });
    assert.equal(news?.tip?.slot, LENGTHS.length);
    assert.equal(news?.torn?.bytes, FRAME_BYTES_MAX);
    const longer = padded(FRAME_BYTES_MAX + 1);
    await refuses(path, { journal: longer }, 'JOURNAL_CORRUPT', /more than one entry/);
  });

  test('is damaged where it is not whole up to its mark, which is never far behind', async () => {
    const lengths = Array<number>(200).fill(2_000);
    const { path, journal, bounds } = await original({ ends: 'killed', lengths });
    for (let from = bounds[0] ?? 0; from < journal.byteLength; from += 50 * SECTOR) {
      const { error, news, untouched } = await openWith(path, {
        journal: Buffer.from(journal).fill(0, from),
      });
      const lost = journal.byteLength - from;
      if (error === undefined) assert.ok(lost < 70_000, `${lost} bytes were zeros: ${news?.tip}`);
      else assert.deepEqual([error.code, untouched], ['JOURNAL_CORRUPT', true]);
      if (lost > 70_000) assert.match(error?.message ?? '', /were there for certain/);
    }
  });

  test('is whole up to where it was closed before, or damaged', async () => {
    const { path } = await original({ ends: 'closed' });
    const replica = new Replica(file(path));
    await replica.open('damage');
    await replica.append(patternBytes(40, 1));
    const killed = copyOf(path);
    await replica.journal.close();
    const journal = readFileSync(join(killed, 'journal'));
    const { news } = await openWith(killed, { journal: journal.subarray(0, -1) });
    assert.deepEqual([news?.tip?.slot, news?.torn?.why], [LENGTHS.length, 'torn-write']);
    const shorter = journal.subarray(0, -101);
    await refuses(killed, { journal: shorter }, 'JOURNAL_CORRUPT', /up to slot 5 were there/);
  });
});

describe('a log that was closed', () => {
  test('is refused when any byte is missing, or any is too many', async () => {
    const { path, journal } = await original({ ends: 'closed' });
    for (let length = 0; length < journal.byteLength; length += 1) {
      const cut = journal.subarray(0, length);
      await refuses(path, { journal: cut }, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
    }
    for (const more of [Buffer.of(0), Buffer.alloc(5_000), Buffer.from('FNCF')]) {
      const longer = Buffer.concat([journal, more]);
      await refuses(path, { journal: longer }, 'JOURNAL_CORRUPT', /a log that was closed/);
    }
  });

  test('is refused with zeros from any sector to its end', async () => {
    const lengths = Array.from({ length: 500 }, (_, index) => 150 + (index % 100));
    const { path, journal } = await original({ ends: 'closed', lengths });
    for (let from = 0; from < journal.byteLength; from += SECTOR) {
      const zeros = Buffer.from(journal).fill(0, from);
      await refuses(path, { journal: zeros }, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
    }
  });

  test('is whole whichever of its marks is torn, and refused without one', async () => {
    const { path, journal, bounds } = await original({ ends: 'closed' });
    const marks = (bounds[0] ?? 0) - 28 - 2 * 28;
    for (let at = marks; at < marks + 56; at += 1) {
      const { news, error } = await openWith(path, { journal: flipped(journal, at, at % 8) });
      assert.equal(error, undefined, `byte ${at}: ${error}`);
      assert.deepEqual([news?.tip?.slot, news?.torn], [LENGTHS.length, undefined]);
    }
    const none = flipped(flipped(journal, marks), marks + 28);
    await refuses(path, { journal: none }, 'JOURNAL_CORRUPT', /marks of the log are damaged/);
  });
});

describe('a relaxed log', () => {
  test('with a gap of a killed process ends before it, and tells why', async () => {
    const making = { ends: 'killed', durability: 'relaxed' } as const;
    const { path, journal, bounds } = await original(making);
    for (let gap = 0; gap < LENGTHS.length; gap += 1) {
      const torn = Buffer.from(journal).fill(0, bounds[gap], bounds[gap + 1]);
      const { news, error, copy } = await openWith(path, { journal: torn });
      assert.equal(error, undefined, `${error}`);
      assert.equal(news?.tip?.slot ?? 0, gap);
      const bytes = journal.byteLength - (bounds[gap] ?? 0);
      const told = { bytes, path: join(copy, 'journal'), slot: gap, why: 'power-loss' };
      assert.deepEqual(news?.torn, told);
      await goesOn(copy, gap);
    }
  });

  test('with a gap is damaged when it was closed', async () => {
    const { path, journal, bounds } = await original({ ends: 'closed', durability: 'relaxed' });
    const torn = Buffer.from(journal).fill(0, bounds[1], bounds[2]);
    await refuses(path, { journal: torn }, 'JOURNAL_CORRUPT', /were there for certain/);
  });
});
