/**
 * Whether a log of LevelDB, in which Chromium keeps IndexedDB, ends in the middle of a record.
 *
 * SIGKILL can cut a write at the edge of a page. LevelDB leaves such an end out when it reads the
 * log, and then appends to the same file, behind it (google/leveldb#1287). The next reading either
 * finds a wrong checksum, and Chromium replaces all databases of the origin by empty ones
 * (`dataLoss` of the upgrade is `total`); or it takes what was appended for the missing rest, and
 * leaves that out without a word.
 *
 * A log is a row of blocks; a record is one or more fragments, and none crosses a block: checksum
 * (4 bytes), length (2), type (1: whole, 2: first, 3: middle, 4: last), content.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK_BYTES = 32 << 10;
const HEADER_BYTES = 7;
const FIRST = 2;
const MIDDLE = 3;

/** Whether any log of a profile does. Only Chromium's profiles have any. */
export function hasTornLog(profile: string): boolean {
  return logsOf(profile).some(isTorn);
}

/** Every file of LevelDB that is a log: of writes, and of its other files. */
export function logsOf(profile: string): string[] {
  const folder = join(profile, 'Default', 'IndexedDB');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.log$|MANIFEST-\d+$/.test(path))
    .map((path) => join(folder, path));
}

function isTorn(path: string): boolean {
  const bytes = readFileSync(path);
  let isInside = false;
  let at = 0;
  while (at < bytes.length) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      at += left;
      continue;
    }
    if (bytes.length - at < HEADER_BYTES) return true;
    const type = bytes.readUInt8(at + 6);
    isInside = type === FIRST || type === MIDDLE;
    at += HEADER_BYTES + bytes.readUInt16LE(at + 4);
  }
  return isInside || at > bytes.length;
}

/** What a cut write leaves: the head of a whole record that announces more than there is. */
export function tornRecord(announced: number, written: number): Uint8Array {
  const record = Buffer.alloc(HEADER_BYTES + written);
  record.writeUInt16LE(announced, 4);
  record.writeUInt8(1, 6);
  return record;
}
