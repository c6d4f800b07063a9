/** Reads all frames of a file and tells a torn tail from damage. */
import { corrupt } from './disk-error.js';
import { type Broken, decodeFrame, type Frame, hasLaterFrame } from './frame.js';
import type { Preamble } from './preamble.js';

export interface Scan {
  /** Of consecutive slots; tags and bytes are views of the file. */
  frames: Frame[];
  /** Where the last whole frame ends. Everything behind it is a torn write. */
  end: number;
}

/**
 * @throws FencepostError `JOURNAL_CORRUPT` with file and offset, when a frame is damaged that is
 *   not the last one
 */
export function scanFrames(file: Uint8Array, preamble: Preamble, path: string): Scan {
  const frames: Frame[] = [];
  let end = preamble.end;
  while (end < file.byteLength) {
    const found = decodeFrame(file, end, preamble.seed);
    const last = frames.at(-1);
    if ('broken' in found) {
      requireTorn(found, file, end, last?.slot ?? 0, preamble.seed, path);
      break;
    }
    if (last !== undefined && found.slot !== last.slot + 1) {
      throw corrupt(path, `expected slot ${last.slot + 1}, got slot ${found.slot}`, end);
    }
    frames.push(found);
    end = found.end;
  }
  return { frames, end };
}

/**
 * A write is torn only at the very end: one frame is written at a time, and the next one only when
 * it is whole. So whatever was written behind it makes it damage.
 */
function requireTorn(
  found: Broken,
  file: Uint8Array,
  offset: number,
  lastSlot: number,
  seed: number,
  path: string,
): void {
  const endsEarly = found.header !== undefined && found.header.end < file.byteLength;
  if (endsEarly || hasLaterFrame(file, offset, lastSlot, seed)) {
    throw corrupt(path, `${found.broken}, and more was written behind it`, offset);
  }
}
