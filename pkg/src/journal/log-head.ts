/**
 * How the file `journal` begins: a preamble, the marks, and the base.
 *
 * The base is a frame without bytes. Its slot and tag are those of the entry before the first one
 * in the file: slot 0 and no tag at first, and what compaction dropped last afterwards. It ties the
 * file to the snapshot that stands for everything up to there.
 */
import { corrupt } from './disk-error.js';
import { decodeFrame, encodeFrame } from './frame.js';
import type { Entry, Slot } from './journal.js';
import { MARKS_BYTES, Marks } from './mark.js';
import { newPreamble, readPreamble } from './preamble.js';

export interface Tip {
  slot: Slot;
  tag: Uint8Array;
}

export interface LogHead {
  name: string;
  seed: number;
  marks: Marks;
  base: Tip;
  /** Where the first entry begins. */
  end: number;
}

/** A new log of these entries behind `base`, in parts to be written one behind the other. */
export function newLog(
  name: string,
  base: Tip,
  entries: readonly Entry[],
  state: 'strict' | 'relaxed' | 'closed',
): { head: LogHead; bounds: number[]; parts: Uint8Array[] } {
  const { bytes, seed } = newPreamble('journal', name);
  const nothing = new Uint8Array(0);
  const baseFrame = encodeFrame(base.slot, { tag: base.tag, bytes: nothing }, seed);
  const start = bytes.byteLength + MARKS_BYTES + baseFrame.byteLength;
  const frames = entries.map((entry, index) => encodeFrame(base.slot + index + 1, entry, seed));
  let end = start;
  const bounds = [start, ...frames.map((frame) => (end += frame.byteLength))];
  const mark = { state, slot: base.slot + entries.length, end };
  const created = Marks.create(bytes.byteLength, seed, mark);
  const head = { name, seed, marks: created.marks, base, end: start };
  // One write for all of the entries: there may be thousands.
  return { head, bounds, parts: [bytes, created.bytes, baseFrame, Buffer.concat(frames)] };
}

/** @throws FencepostError `JOURNAL_CORRUPT` or `FORMAT_TOO_NEW`, which name `path` */
export function readHead(file: Uint8Array, path: string): LogHead {
  const { name, seed, end } = readPreamble('journal', file, path);
  const marks = Marks.read(file, end, seed);
  if (marks === null) throw corrupt(path, 'the marks of the log are damaged', end);
  const at = end + MARKS_BYTES;
  const base = decodeFrame(file, at, seed);
  if ('broken' in base) throw corrupt(path, `${base.broken}, of the log's beginning`, at);
  return { name, seed, marks, base: { slot: base.slot, tag: base.tag.slice() }, end: base.end };
}
