/**
 * Reads all frames of a log, and tells what a loss of power may leave from damage.
 *
 * - Up to the log's mark everything is durable for certain: what is not whole there is damage.
 * - Of a log that was closed, so is whatever is behind the mark.
 * - In `strict` one frame is written at a time, and the next one only when it is durable. So one
 *   write at most is torn, at the very end, and nothing was written behind it.
 * - In `relaxed` the disk may have written later ones and left earlier ones out. What is whole
 *   before the first gap is the log.
 */
import { corrupt } from './disk-error.js';
import { type Broken, decodeFrame, FRAME_BYTES_MAX, type Frame, hasLaterFrame } from './frame.js';
import type { Torn } from './journal.js';
import type { LogHead } from './log-head.js';

export interface Scan {
  /** Of consecutive slots; tags and bytes are views of the file. */
  frames: Frame[];
  /** Where the last whole frame ends. */
  end: number;
  /** What stands behind it, and why it is none of the log. */
  torn: Torn | null;
}

/** @throws FencepostError `JOURNAL_CORRUPT` with file and offset, for damage */
export function scanFrames(file: Uint8Array, head: LogHead, path: string): Scan {
  const frames: Frame[] = [];
  let end = head.end;
  let slot = head.base.slot;
  let broken: Broken | null = null;
  while (end < file.byteLength) {
    const found = decodeFrame(file, end, head.seed);
    if ('broken' in found) {
      broken = found;
      break;
    }
    if (found.slot !== slot + 1) {
      throw corrupt(path, `expected slot ${slot + 1}, got slot ${found.slot}`, end);
    }
    frames.push(found);
    end = found.end;
    slot = found.slot;
  }
  const mark = head.marks.newest;
  if (slot < mark.slot || end < mark.end) {
    const what = broken?.broken ?? 'the file ends';
    throw corrupt(path, `${what}, and entries up to slot ${mark.slot} were there for certain`, end);
  }
  if (mark.state === 'closed' && file.byteLength > mark.end) {
    const more = `${file.byteLength - mark.end} bytes`;
    throw corrupt(path, `expected the end of a log that was closed, got ${more}`, mark.end);
  }
  if (broken === null) return { frames, end, torn: null };
  if (mark.state === 'strict') requireOneWrite(broken, file, { end, slot, seed: head.seed, path });
  const why = mark.state === 'strict' ? 'torn-write' : 'power-loss';
  return { frames, end, torn: { bytes: file.byteLength - end, path, slot, why } };
}

function requireOneWrite(
  { broken, header }: Broken,
  file: Uint8Array,
  { end, slot, seed, path }: { end: number; slot: number; seed: number; path: string },
): void {
  const bytes = file.byteLength - end;
  if (header !== undefined && header.slot !== slot + 1) {
    throw corrupt(path, `${broken}, and it is slot ${header.slot} behind slot ${slot}`, end);
  }
  const endsEarly = header !== undefined && header.end < file.byteLength;
  if (endsEarly || hasLaterFrame(file, end, slot, seed)) {
    throw corrupt(path, `${broken}, and more was written behind it`, end);
  }
  if (bytes > FRAME_BYTES_MAX) {
    throw corrupt(path, `${broken}, and ${bytes} bytes are more than one entry`, end);
  }
}
