/** No room: a typed error, nothing half-written, and it goes on when there is room again. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { expectBytes, patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { entryBytes } from './append-bytes.js';
import { Child } from './child.js';
import { temporaryDirectory } from './directory.js';

test('a file size limit stops a process, and what it was promised is there', async (context) => {
  const path = temporaryDirectory();
  const child = new Child(context, 'child-append.ts', [path], { limit: 1024 });
  const lines: string[] = [];
  for (let line = await child.line(); line !== null; line = await child.line()) lines.push(line);
  assert.equal(await child.finish(), 0);
  assert.equal(lines.at(-1), 'JOURNAL_FULL false');
  const acknowledged = Number(lines.at(-2));
  assert.ok(acknowledged > 10, `expected some entries, got ${acknowledged}`);
  const replica = new Replica(file(path));
  const news = await replica.open('append');
  assert.equal(news.torn, undefined, 'the partial write was taken back');
  assert.equal(replica.slot, acknowledged);
  for (const [slot, bytes] of replica.entries) expectBytes(bytes, entryBytes(slot), `slot ${slot}`);
  assert.equal(await replica.append(entryBytes(acknowledged + 1)), acknowledged + 1);
  await replica.journal.close();
});

const noMount = smallDisk('probe') === null ? 'cannot mount a small disk here' : false;

test('a full disk refuses entries and takes them again', { skip: noMount }, async (context) => {
  const disk = smallDisk('full');
  assert.ok(disk !== null);
  context.after(() => execFileSync('umount', [disk]));
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(700 * 1024));
  const replica = new Replica(file(join(disk, 'store')));
  await replica.open('full');
  const refused = await fill(replica);
  assert.equal(refused.code, 'JOURNAL_FULL');
  assert.deepEqual([refused.details.stored, refused.details.system], [false, 'ENOSPC']);
  const full = replica.slot;
  await replica.sync();
  assert.equal(replica.slot, full, 'reading works, and nothing appeared');
  const compaction = replica.journal.compact(full, [patternBytes(300_000, 1)]);
  await assert.rejects(compaction, { code: 'JOURNAL_FULL' });
  rmSync(ballast);
  await replica.journal.compact(full, [patternBytes(50_000, 1)]);
  assert.equal(await replica.append(patternBytes(3000, full + 1)), full + 1);
  await replica.journal.close();
  const again = new Replica(file(join(disk, 'store')));
  const news = await again.open('full');
  assert.equal(news.torn, undefined);
  assert.equal(again.slot, full + 1);
  expectBytes(again.entries.get(full + 1) ?? new Uint8Array(0), patternBytes(3000, full + 1), 'it');
  await again.journal.close();
});

async function fill(replica: Replica): Promise<FencepostError> {
  for (;;) {
    try {
      replica.slot = await replica.append(patternBytes(3000, replica.slot + 1));
    } catch (error) {
      assert.ok(error instanceof FencepostError, String(error));
      return error;
    }
  }
}

/** A disk of one mebibyte; null where that needs rights or tools we do not have. */
function smallDisk(name: string): string | null {
  const path = join(temporaryDirectory(), name);
  mkdirSync(path);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', path], { stdio: 'ignore' });
  } catch {
    return null;
  }
  if (name === 'probe') execFileSync('umount', [path]);
  return path;
}
