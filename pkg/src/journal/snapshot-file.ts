/**
 * The file `snapshot`: a preamble and one frame, whose slot and tag are those of the newest entry
 * in the snapshot. It is written beside the old one and then takes its name, so it is always whole.
 */
import { join } from 'node:path';
import { type Disk, readAll } from './disk.js';
import { corrupt } from './disk-error.js';
import { decodeFrame, encodeFrame, type Frame } from './frame.js';
import type { Entry, Slot } from './journal.js';
import { newPreamble, readPreamble } from './preamble.js';
import { replaceFile } from './replace-file.js';

export function snapshotPath(directory: string): string {
  return join(directory, 'snapshot');
}

/**
 * The snapshot and the store's name in it; null when there is none yet.
 *
 * @throws FencepostError `JOURNAL_CORRUPT` or `FORMAT_TOO_NEW`, which name the file
 */
export async function readSnapshot(
  disk: Disk,
  directory: string,
): Promise<{ name: string; frame: Frame } | null> {
  const path = snapshotPath(directory);
  const file = await disk.open(path);
  if (file === null) return null;
  try {
    const bytes = await readAll(file);
    const preamble = readPreamble('snapshot', bytes, path);
    const frame = decodeFrame(bytes, preamble.end, preamble.seed);
    if ('broken' in frame) throw corrupt(path, frame.broken, preamble.end);
    if (frame.end !== bytes.byteLength) {
      throw corrupt(path, `expected the end of the file, got ${bytes.byteLength} bytes`, frame.end);
    }
    return { name: preamble.name, frame };
  } finally {
    await file.close();
  }
}

/** Puts the snapshot in place. The caller syncs the directory. */
export async function writeSnapshot(
  disk: Disk,
  directory: string,
  name: string,
  slot: Slot,
  entry: Entry,
): Promise<void> {
  const { bytes, seed } = newPreamble('snapshot', name);
  const parts = [bytes, encodeFrame(slot, entry, seed)];
  const file = await replaceFile(disk, snapshotPath(directory), parts);
  await file.close();
}
