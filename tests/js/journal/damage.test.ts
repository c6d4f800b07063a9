/** Damage is named and left as it is. What a crash may leave is in `torn.test.ts`. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { FORMATS, readPreamble } from '../../../pkg/dist/journal/preamble.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { flipped, LENGTHS, type Original, openWith, original, refuses } from './damaged.js';
import { contentOf, copyOf, quickDirectory } from './directory.js';

describe('one wrong bit', () => {
  test('in any entry is refused with file and offset', async () => {
    const { path, journal, bounds } = await original({ ends: 'closed' });
    for (let at = bounds[0] ?? 0; at < journal.byteLength; at += 1) {
      const changes = { journal: flipped(journal, at, at % 8) };
      const error = await refuses(path, changes, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
      assert.equal(error.details.offset, Math.max(...bounds.filter((bound) => bound <= at)));
    }
  });

  for (const name of ['journal', 'snapshot'] as const) {
    test(`in the header of the ${name} is refused`, async () => {
      const { path } = await original({ ends: 'closed', compactAt: 3 });
      const bytes = readFileSync(join(path, name));
      for (let at = 0; at < readPreamble(name, bytes, name).end; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const { error, untouched } = await openWith(path, { [name]: flipped(bytes, at, bit) });
          // A wrong bit in the reader's number looks like a later format, and may.
          const expected = at >= 12 && at < 16 && !(at === 12 && bit === FORMATS[name] - 1);
          assert.equal(
            error?.code,
            expected ? 'FORMAT_TOO_NEW' : 'JOURNAL_CORRUPT',
            `${at}/${bit}`,
          );
          assert.ok(untouched && error.message.includes(name));
        }
      }
    });
  }

  test('anywhere in the snapshot, or any byte missing, is refused', async () => {
    const { path } = await original({ ends: 'closed', compactAt: 3 });
    const bytes = readFileSync(join(path, 'snapshot'));
    const { end } = readPreamble('snapshot', bytes, 'snapshot');
    for (let at = end; at < bytes.byteLength; at += 1) {
      await refuses(path, { snapshot: flipped(bytes, at) }, 'JOURNAL_CORRUPT', /snapshot" at off/);
    }
    for (let length = 0; length < bytes.byteLength; length += 1) {
      const cut = bytes.subarray(0, length);
      await refuses(path, { snapshot: cut }, 'JOURNAL_CORRUPT', /snapshot" at offset \d+: /);
    }
    const longer = Buffer.concat([bytes, Buffer.of(0)]);
    await refuses(path, { snapshot: longer }, 'JOURNAL_CORRUPT', /snapshot" at offset \d+: /);
  });
});

describe('a file journal', () => {
  let start: Original;
  before(async () => {
    start = await original({ ends: 'killed' });
  });

  test('refuses a hole of zeros in the middle', async () => {
    const { path, journal, bounds } = start;
    const hole = Buffer.from(journal).fill(0, bounds[1], bounds[3]);
    await refuses(path, { journal: hole }, 'JOURNAL_CORRUPT', /more was written behind it/);
  });

  test('refuses damage with only the beginning of an entry behind it', async () => {
    const { path, journal, bounds } = start;
    const inFourth = (bounds[4] ?? 0) - 1;
    const cut = flipped(journal, inFourth).subarray(0, (bounds[4] ?? 0) + 28);
    await refuses(path, { journal: cut }, 'JOURNAL_CORRUPT', /more was written behind it/);
    const shorter = flipped(journal, inFourth).subarray(0, (bounds[4] ?? 0) + 3);
    await refuses(path, { journal: shorter }, 'JOURNAL_CORRUPT', /more was written behind it/);
  });

  test('refuses entries that are missing, doubled or in another order', async () => {
    const { path, journal, bounds } = start;
    const part = (index: number): Buffer => journal.subarray(bounds[index], bounds[index + 1]);
    const head = journal.subarray(0, bounds[0]);
    for (const order of [
      [0, 2],
      [0, 0],
      [1, 0],
      [1, 2],
      [0, 1, 3, 2],
    ]) {
      const reordered = Buffer.concat([head, ...order.map(part)]);
      await refuses(path, { journal: reordered }, 'JOURNAL_CORRUPT', /expected slot/);
    }
  });

  test('refuses a foreign file and a later format, whatever follows in it', async () => {
    const { path, journal } = start;
    for (const foreign of ['', 'x', '{"not":"ours"}', `SQLite format 3\0${'x'.repeat(4096)}`]) {
      const bytes = Buffer.from(foreign);
      await refuses(path, { journal: bytes }, 'JOURNAL_CORRUPT', /expected a Fencepost journal/);
    }
    const snapshot = Buffer.from(journal);
    await refuses(path, { snapshot }, 'JOURNAL_CORRUPT', /expected a Fencepost snapshot/);
    const later = Buffer.from(journal).fill(0xee, 16);
    later.writeUInt32LE(9, 8);
    later.writeUInt32LE(7, 12);
    const error = await refuses(
      path,
      { journal: later },
      'FORMAT_TOO_NEW',
      /needs a reader of form/,
    );
    assert.deepEqual([error.details.format, error.details.minReader], [9, 7]);
  });

  test('reads a later format that says it may', async () => {
    const { path, journal } = start;
    const later = Buffer.from(journal);
    const covered = readPreamble('journal', journal, 'journal').end - 4;
    later.writeUInt32LE(2, 8);
    later.writeUInt32LE(crc32(later.subarray(0, covered)), covered);
    const { news, error } = await openWith(path, { journal: later });
    assert.equal(error, undefined);
    assert.equal(news?.tip?.slot, LENGTHS.length);
  });

  test('misses its snapshot, its journal, or the right one', async () => {
    const path = quickDirectory();
    const replica = new Replica(file(path));
    await replica.open('damage');
    for (let slot = 1; slot <= 100; slot += 1) await replica.append(patternBytes(3, slot));
    await replica.journal.compact(100, [patternBytes(3, 1)]);
    await replica.journal.close();
    await refuses(path, { snapshot: null }, 'JOURNAL_CORRUPT', /expected a snapshot at slot 36/);
    await refuses(path, { journal: null }, 'JOURNAL_CORRUPT', /a snapshot, but no journal/);
    const others = await original({ ends: 'closed', compactAt: 3, writer: 1 });
    const snapshot = readFileSync(join(others.path, 'snapshot'));
    await refuses(path, { snapshot }, 'JOURNAL_CORRUPT', /slot 36 or later beside it, got one at/);
    const short = await original({ ends: 'closed', compactAt: 3 });
    await refuses(short.path, { snapshot }, 'JOURNAL_CORRUPT', /slot 3 is of another log/);
    const newer = readFileSync(join(path, 'snapshot'));
    const another = { snapshot: newer };
    await refuses(short.path, another, 'JOURNAL_CORRUPT', /slot 100 is newer than its end at 5/);
    const { journal } = others;
    await refuses(short.path, { journal }, 'JOURNAL_CORRUPT', /slot 3 is of another log/);
  });

  test('knows the snapshot that stands for all of its entries', async () => {
    const [one, another] = await Promise.all([0, 1].map(compacted));
    for (const ends of [one, another]) {
      const { news } = await openWith(ends ?? '', {});
      assert.deepEqual([news?.tip?.slot, news?.snapshot?.slot, news?.entries.length], [2, 2, 0]);
    }
    const snapshot = readFileSync(join(another ?? '', 'snapshot'));
    await refuses(one ?? '', { snapshot }, 'JOURNAL_CORRUPT', /slot 2 is of another log/);
  });

  test('is not misled by a copy of itself in a payload, even when that is torn', async () => {
    const path = quickDirectory();
    const replica = new Replica(file(path));
    await replica.open('damage');
    await replica.append(patternBytes(50, 1));
    await replica.append(patternBytes(50, 2));
    const whole = readFileSync(join(path, 'journal'));
    await replica.append(whole);
    const killed = copyOf(path);
    await replica.journal.close();
    const { news } = await openWith(path, {});
    assert.equal(news?.tip?.slot, 3);
    const longer = readFileSync(join(killed, 'journal'));
    const torn = await openWith(killed, { journal: longer.subarray(0, -1) });
    assert.equal(torn.error, undefined);
    assert.equal(torn.news?.tip?.slot, 2, 'only the torn entry is gone');
  });

  test('notices when its files are changed or deleted while it is open', async () => {
    const path = quickDirectory();
    const replica = new Replica(file(path));
    await replica.open('damage');
    await replica.append(patternBytes(50, 1));
    const path1 = join(path, 'journal');
    const whole = readFileSync(path1);
    for (const change of [
      () => appendFileSync(path1, 'x'),
      () => truncateSync(path1, 0),
      () => truncateSync(path1, whole.byteLength - 1),
    ]) {
      change();
      await rejects(replica.sync(), 'JOURNAL_CORRUPT');
      await rejects(replica.append(patternBytes(50, 2)), 'JOURNAL_CORRUPT');
      writeFileSync(path1, whole);
      await replica.sync();
    }
    rmSync(path, { recursive: true });
    await rejects(replica.append(patternBytes(50, 2)), 'LOG_REPLACED');
    await rejects(replica.sync(), 'LOG_REPLACED');
    await rejects(replica.journal.compact(1, [patternBytes(50, 2)]), 'LOG_REPLACED');
    await replica.journal.close();
    const again = new Replica(replica.journal);
    const news = await again.open('damage');
    assert.equal(news.tip, null, 'opened again it is a new, empty log');
    await again.journal.close();
  });

  test('names the directory that stands where it has a file', async () => {
    const { path } = await original({ ends: 'closed', compactAt: 3 });
    for (const [name, code] of [
      ['journal', 'JOURNAL_CORRUPT'],
      ['snapshot', 'JOURNAL_CORRUPT'],
      ['journal.tmp', 'JOURNAL_UNAVAILABLE'],
      ['snapshot.tmp', 'JOURNAL_UNAVAILABLE'],
    ]) {
      const copy = copyOf(path);
      const taken = join(copy, name ?? '');
      rmSync(taken, { force: true });
      mkdirSync(taken);
      await assert.rejects(file(copy).open('damage'), (error) => {
        assert.ok(error instanceof FencepostError, String(error));
        assert.deepEqual([error.code, error.details.path], [code, taken]);
        return error.details.stored === false;
      });
      rmdirSync(taken);
      if (!taken.endsWith('.tmp')) copyFileSync(join(path, name ?? ''), taken);
      const journal = file(copy);
      assert.equal((await journal.open('damage')).tip?.slot, LENGTHS.length, 'nothing was touched');
      await journal.close();
    }
  });

  test('needs nothing that a crash left half-written beside its files', async () => {
    const { path } = await original({ ends: 'closed', compactAt: 3 });
    for (const bytes of [Buffer.alloc(0), Buffer.from('FNCPJRNL'), Buffer.alloc(5_000, 7)]) {
      const changes = { 'journal.tmp': bytes, 'snapshot.tmp': bytes };
      const { news, copy } = await openWith(path, changes);
      assert.deepEqual([news?.tip?.slot, news?.torn], [LENGTHS.length, undefined]);
      assert.deepEqual([...contentOf(copy).keys()], ['journal', 'snapshot']);
    }
  });

  test('says what it expected when the path is no directory', async () => {
    const path = quickDirectory();
    writeFileSync(join(path, 'taken'), 'text');
    for (const taken of [join(path, 'taken'), join(path, 'taken', 'below')]) {
      await rejects(file(taken).open('damage'), 'INVALID_ARGUMENT');
    }
    assert.equal(readFileSync(join(path, 'taken'), 'utf8'), 'text');
  });
});

/** A journal whose two entries are so large that none stays readable behind its snapshot. */
async function compacted(writer: number): Promise<string> {
  const path = quickDirectory();
  const replica = new Replica(file(path), writer);
  await replica.open('damage');
  for (const slot of [1, 2]) await replica.append(patternBytes(2 << 20, slot));
  await replica.journal.compact(2, [patternBytes(30, writer)]);
  await replica.journal.close();
  return path;
}

/** Known not to be stored, so the store may tell its callers. */
async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FencepostError, `expected ${code}, got ${error}`);
  assert.equal(error.code, code);
  assert.equal(error.details.stored, false);
}
