/** Torn tails are cut and told; any other damage is named and left as it is. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { decodeFrame } from '../../../pkg/dist/journal/frame.js';
import type { News } from '../../../pkg/dist/journal/journal.js';
import { readPreamble } from '../../../pkg/dist/journal/preamble.js';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { contentOf, copyOf, quickDirectory } from './directory.js';

const LENGTHS = [1, 9, 0, 30, 12];

/** A journal of a few entries; `bounds` is where each begins, and where the last one ends. */
interface Original {
  path: string;
  journal: Buffer;
  bounds: number[];
}

async function original(compactAt: number, writer = 0): Promise<Original> {
  const path = quickDirectory();
  const replica = new Replica(file(path), writer);
  await replica.open('damage');
  for (const [index, length] of LENGTHS.entries()) {
    await replica.append(patternBytes(length, index));
  }
  if (compactAt > 0) await replica.journal.compact(compactAt, patternBytes(300, 1));
  await replica.journal.close();
  const journal = readFileSync(join(path, 'journal'));
  return { path, journal, bounds: boundsOf(journal) };
}

function boundsOf(journal: Uint8Array): number[] {
  const { end, seed } = readPreamble('journal', journal, 'journal');
  const bounds = [end];
  for (let at = end; at < journal.byteLength; ) {
    const frame = decodeFrame(journal, at, seed);
    assert.ok(!('broken' in frame));
    at = frame.end;
    bounds.push(at);
  }
  return bounds;
}

/** Opens a copy with another content of one of its files. */
async function openWith(
  path: string,
  changes: Record<string, Uint8Array | null>,
): Promise<{ news?: News; error?: FencepostError; untouched: boolean; copy: string }> {
  const copy = copyOf(path);
  for (const [name, bytes] of Object.entries(changes)) {
    if (bytes === null) rmSync(join(copy, name));
    else writeFileSync(join(copy, name), bytes);
  }
  const content = contentOf(copy);
  const journal = file(copy);
  const untouched = (): boolean => {
    const now = contentOf(copy);
    return [...content].every(([name, bytes]) => now.get(name)?.equals(bytes)) && now.size > 0;
  };
  try {
    const news = await journal.open('damage');
    await journal.close();
    return { news, untouched: untouched(), copy };
  } catch (error) {
    assert.ok(error instanceof FencepostError, String(error));
    return { error, untouched: untouched(), copy };
  }
}

async function refuses(
  path: string,
  changes: Record<string, Uint8Array | null>,
  code: string,
  named: RegExp,
): Promise<FencepostError> {
  const { error, untouched } = await openWith(path, changes);
  assert.equal(error?.code, code, `expected ${code}, got ${error}`);
  assert.match(error.message, named);
  assert.ok(untouched, 'the files are left as they were');
  return error;
}

function flipped(bytes: Buffer, at: number, bit = 0): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

describe('a journal cut off at any byte', () => {
  for (const compactAt of [0, 3, 5]) {
    test(`opens with the whole entries before it (snapshot at ${compactAt})`, async () => {
      const { path, journal, bounds } = await original(compactAt);
      const [start = 0] = bounds;
      for (let length = start; length <= journal.byteLength; length += 1) {
        const { news, error, copy } = await openWith(path, {
          journal: journal.subarray(0, length),
        });
        assert.equal(error, undefined, `cut at ${length}: ${error}`);
        const whole = bounds.filter((bound) => bound <= length).length - 1;
        const tip = Math.max(whole, compactAt);
        assert.equal(news?.tip?.slot ?? 0, tip, `cut at ${length}`);
        assert.equal(news?.entries.length, tip - compactAt, `cut at ${length}`);
        const torn = length - (bounds[whole] ?? 0);
        assert.equal(news?.torn?.bytes ?? 0, torn, `cut at ${length}`);
        if (torn > 0) assert.equal(news?.torn?.path, join(copy, 'journal'));
        await goesOn(copy, tip);
      }
    });
  }

  test('is refused when even its header is cut', async () => {
    const { path, journal, bounds } = await original(0);
    for (let length = 0; length < (bounds[0] ?? 0); length += 1) {
      const cut = journal.subarray(0, length);
      await refuses(path, { journal: cut }, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
    }
  });
});

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

describe('one wrong bit', () => {
  test('in the last entry costs that entry and is told', async () => {
    const { path, journal, bounds } = await original(0);
    const start = bounds.at(-2) ?? 0;
    for (let at = start; at < journal.byteLength; at += 1) {
      const { news, error } = await openWith(path, { journal: flipped(journal, at, at % 8) });
      assert.equal(error, undefined, `bit ${at}: ${error}`);
      assert.equal(news?.tip?.slot, LENGTHS.length - 1, `bit ${at}`);
      assert.equal(news?.torn?.bytes, journal.byteLength - start, `bit ${at}`);
    }
  });

  test('in any earlier entry is refused with file and offset', async () => {
    const { path, journal, bounds } = await original(0);
    for (let at = bounds[0] ?? 0; at < (bounds.at(-2) ?? 0); at += 1) {
      const changes = { journal: flipped(journal, at, at % 8) };
      const error = await refuses(path, changes, 'JOURNAL_CORRUPT', /journal" at offset \d+: /);
      assert.equal(error.details.offset, Math.max(...bounds.filter((bound) => bound <= at)));
    }
  });

  for (const name of ['journal', 'snapshot'] as const) {
    test(`in the header of the ${name} is refused`, async () => {
      const { path } = await original(3);
      const bytes = readFileSync(join(path, name));
      for (let at = 0; at < readPreamble(name, bytes, name).end; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const { error, untouched } = await openWith(path, { [name]: flipped(bytes, at, bit) });
          // A wrong bit in the reader's number looks like a later format, and may.
          const expected = at >= 12 && at < 16 && !(at === 12 && bit === 0);
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
    const { path } = await original(3);
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
    start = await original(0);
  });

  test('refuses a hole of zeros in the middle, and cuts off zeros at the end', async () => {
    const { path, journal, bounds } = start;
    const zeroed = (from: number, to: number): Buffer => Buffer.from(journal).fill(0, from, to);
    const hole = zeroed(bounds[1] ?? 0, bounds[3] ?? 0);
    await refuses(path, { journal: hole }, 'JOURNAL_CORRUPT', /more was written behind it/);
    const { news } = await openWith(path, {
      journal: Buffer.concat([journal, Buffer.alloc(5000)]),
    });
    assert.equal(news?.tip?.slot, LENGTHS.length);
    assert.equal(news?.torn?.bytes, 5000);
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
    const { path, journal, bounds } = start;
    const later = Buffer.from(journal);
    const covered = (bounds[0] ?? 0) - 4;
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
    await replica.journal.compact(100, patternBytes(3, 1));
    await replica.journal.close();
    await refuses(path, { snapshot: null }, 'JOURNAL_CORRUPT', /expected slot 1 or earlier/);
    await refuses(path, { journal: null }, 'JOURNAL_CORRUPT', /a snapshot, but no journal/);
    const others = readFileSync(join((await original(3, 1)).path, 'snapshot'));
    await refuses(path, { snapshot: others }, 'JOURNAL_CORRUPT', /expected slot 4 or earlier/);
    const short = await original(3);
    await refuses(short.path, { snapshot: others }, 'JOURNAL_CORRUPT', /slot 3 is of another log/);
  });

  test('is not misled by a copy of itself in a payload, even when that is torn', async () => {
    const path = quickDirectory();
    const replica = new Replica(file(path));
    await replica.open('damage');
    await replica.append(patternBytes(50, 1));
    await replica.append(patternBytes(50, 2));
    const whole = readFileSync(join(path, 'journal'));
    await replica.append(whole);
    await replica.journal.close();
    const { news } = await openWith(path, {});
    assert.equal(news?.tip?.slot, 3);
    const longer = readFileSync(join(path, 'journal'));
    const torn = await openWith(path, { journal: longer.subarray(0, -1) });
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
    await rejects(replica.journal.compact(1, patternBytes(50, 2)), 'LOG_REPLACED');
    await replica.journal.close();
    const again = new Replica(replica.journal);
    const news = await again.open('damage');
    assert.equal(news.tip, null, 'opened again it is a new, empty log');
    await again.journal.close();
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
