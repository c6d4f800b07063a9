/**
 * The file `snapshot`: a preamble and frames. The first has the slot and the tag of the newest
 * entry in the snapshot, and no bytes; the next ones, numbered from 1, have pieces of it; the last
 * one has nothing but its number. Files of format 1 have all bytes in the first frame.
 *
 * It is written beside the old one and then takes its name, so it is always whole.
 *
 * **Cost**: one piece in memory, however large the file is.
 */
import { join } from 'node:path';
import { inChunks, snapshotReplaced } from './chunks.js';
import { type Disk, type DiskFile, readAll, readFully, writeFully } from './disk.js';
import { corrupt, nothingStored } from './disk-error.js';
import { decodeFrame, encodeFrame, FRAME_HEADER_BYTES, frameBytes } from './frame.js';
import type { Slot, SnapshotParts } from './journal.js';
import type { Tip } from './log-head.js';
import { newPreamble, type Preamble, readPreamble } from './preamble.js';
import { temporaryPath } from './replace-file.js';

/** Of a name of 255 bytes, and what is around it. */
const PREAMBLE_BYTES_MAX = 512;
const NONE = new Uint8Array();

/** What a snapshot file says of itself. */
export interface SnapshotFile extends Tip {
  name: string;
}

export function snapshotPath(directory: string): string {
  return join(directory, 'snapshot');
}

/**
 * What is said of the snapshot; null when there is none yet. All of it is looked at, in pieces:
 * what is damaged is to be known before anything is changed.
 *
 * @throws FencepostError `JOURNAL_CORRUPT` or `FORMAT_TOO_NEW`, which name the file
 */
export async function findSnapshot(disk: Disk, directory: string): Promise<SnapshotFile | null> {
  const path = snapshotPath(directory);
  const file = await disk.open(path);
  if (file === null) return null;
  try {
    const found = await readHead(file, path);
    for await (const _ of pieces(file, found, path));
    return found.head;
  } finally {
    await file.close();
  }
}

/** Reads the pieces of the snapshot at a slot. */
export async function* readSnapshot(
  disk: Disk,
  directory: string,
  slot: Slot,
): AsyncGenerator<Uint8Array, void, void> {
  const path = snapshotPath(directory);
  const file = await openForReading(disk, path);
  try {
    const found = await readHead(file, path);
    if (found.head.slot !== slot) throw snapshotReplaced();
    yield* pieces(file, found, path);
  } catch (error) {
    throw nothingStored(error, 'could not read the snapshot', path);
  } finally {
    await file.close();
  }
}

interface Found {
  head: SnapshotFile;
  preamble: Preamble;
  end: number;
}

async function* pieces(
  file: DiskFile,
  { preamble, end }: Found,
  path: string,
): AsyncGenerator<Uint8Array, void, void> {
  if (preamble.format === 1) {
    yield await wholeSnapshot(file, preamble, path);
    return;
  }
  let at = end;
  for (let number = 1; ; number += 1) {
    const frame = await readFrame(file, at, preamble.seed, path);
    if (frame.slot !== number) throw corrupt(path, `expected piece ${number}`, at);
    at += frame.end;
    if (frame.bytes.byteLength === 0) break;
    yield frame.bytes;
  }
  if (at !== file.stat().size) throw corrupt(path, 'expected the end of the file', at);
}

async function openForReading(disk: Disk, path: string): Promise<DiskFile> {
  const file = await disk.open(path).catch((error: unknown) => {
    throw nothingStored(error, 'could not open the snapshot', path);
  });
  if (file === null) throw corrupt(path, 'the snapshot is missing');
  return file;
}

async function readHead(file: DiskFile, path: string): Promise<Found> {
  const beginning = new Uint8Array(Math.min(PREAMBLE_BYTES_MAX, file.stat().size));
  await readFully(file, beginning, 0);
  const preamble = readPreamble('snapshot', beginning, path);
  const frame = await readFrame(file, preamble.end, preamble.seed, path);
  const { slot, tag } = frame;
  const head = { name: preamble.name, slot, tag: tag.slice() };
  return { head, preamble, end: preamble.end + frame.end };
}

/** The frame at `position`; its `end` is counted from there. */
async function readFrame(file: DiskFile, position: number, seed: number, path: string) {
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  await readFully(file, header, position);
  const size = frameBytes(header, file.stat().size - position, seed);
  const bytes = new Uint8Array(size ?? FRAME_HEADER_BYTES);
  const read = await readFully(file, bytes, position);
  const frame = decodeFrame(bytes.subarray(0, read), 0, seed);
  if ('broken' in frame) throw corrupt(path, frame.broken, position);
  return frame;
}

async function wholeSnapshot(
  file: DiskFile,
  preamble: Preamble,
  path: string,
): Promise<Uint8Array> {
  const bytes = await readAll(file);
  const frame = decodeFrame(bytes, preamble.end, preamble.seed);
  if ('broken' in frame) throw corrupt(path, frame.broken, preamble.end);
  if (frame.end !== bytes.byteLength) {
    throw corrupt(path, `expected the end of the file, got ${bytes.byteLength} bytes`, frame.end);
  }
  return frame.bytes;
}

/** A snapshot that is being written beside the present one. */
export class SnapshotDraft {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: DiskFile;
  #isOver = false;

  private constructor(disk: Disk, path: string, file: DiskFile) {
    this.#disk = disk;
    this.#path = path;
    this.#file = file;
  }

  /**
   * Writes all of it, durably. `goOn` is asked before each piece, and may throw.
   *
   * @throws FencepostError `JOURNAL_FULL`, `JOURNAL_UNAVAILABLE`, and whatever `parts` throws
   */
  static async write(
    disk: Disk,
    directory: string,
    { name, slot, tag }: SnapshotFile,
    parts: SnapshotParts,
    goOn: () => void,
  ): Promise<SnapshotDraft> {
    const path = snapshotPath(directory);
    const doing = 'could not write the snapshot';
    const stop = (error: unknown): never => {
      throw nothingStored(error, doing, path);
    };
    const file = await disk.create(temporaryPath(path)).catch(stop);
    const draft = new SnapshotDraft(disk, path, file);
    try {
      const { bytes, seed } = newPreamble('snapshot', name);
      let end = 0;
      const put = async (written: Uint8Array) => {
        await writeFully(file, written, end).catch(stop);
        end += written.byteLength;
      };
      await put(bytes);
      await put(encodeFrame(slot, { bytes: NONE, tag }, seed));
      let number = 1;
      for await (const part of inChunks(parts)) {
        goOn();
        if (part.byteLength === 0) continue;
        await put(encodeFrame(number, { bytes: part, tag: NONE }, seed));
        number += 1;
      }
      await put(encodeFrame(number, { bytes: NONE, tag: NONE }, seed));
      await file.sync().catch(stop);
      return draft;
    } catch (error) {
      await draft.drop();
      throw error;
    }
  }

  /** Puts it in place. The caller syncs the directory. */
  async activate(): Promise<void> {
    await this.#disk.rename(temporaryPath(this.#path), this.#path);
    this.#isOver = true;
    await this.#file.close();
  }

  /** Unless it is in place. */
  async drop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await Promise.allSettled([this.#file.close()]);
    await Promise.allSettled([this.#disk.remove(temporaryPath(this.#path))]);
  }
}
