/**
 * One entry as it stands in a file. All numbers are little-endian.
 *
 * ```text
 *  0  magic            4   FNCF
 *  4  length           4   of the bytes
 *  8  slot             8
 * 16  tag length       4
 * 20  body checksum    4   CRC-32 of tag and bytes
 * 24  header checksum  4   CRC-32 of the 24 bytes before
 * 28  tag, bytes
 * ```
 *
 * Both checksums start from the seed of the file, so that a frame inside somebody's payload is not
 * taken for one of the journal's own.
 *
 * **Invariant**: every length is checked against what is there before it is used.
 */
import { crc32 } from 'node:zlib';
import type { Entry, Slot } from './journal.js';

const MAGIC = Uint8Array.of(0x46, 0x4e, 0x43, 0x46);
const HEADER_BYTES = 28;
export const FRAME_HEADER_BYTES = HEADER_BYTES;
const ENTRY_BYTES_MAX = 1 << 24;
const TAG_BYTES_MAX = 1 << 10;

/** No entry takes more in a file. */
export const FRAME_BYTES_MAX = HEADER_BYTES + TAG_BYTES_MAX + ENTRY_BYTES_MAX;

export interface Frame {
  slot: Slot;
  tag: Uint8Array;
  bytes: Uint8Array;
  /** Where the next frame begins. */
  end: number;
}

/** Why there is no frame at an offset. The header is told when it is whole and can be believed. */
export interface Broken {
  broken: string;
  header?: { slot: Slot; end: number };
}

export function encodeFrame(slot: Slot, entry: Entry, seed: number): Uint8Array {
  const { tag, bytes } = entry;
  const frame = new Uint8Array(HEADER_BYTES + tag.byteLength + bytes.byteLength);
  frame.set(MAGIC);
  frame.set(tag, HEADER_BYTES);
  frame.set(bytes, HEADER_BYTES + tag.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(4, bytes.byteLength, true);
  view.setBigUint64(8, BigInt(slot), true);
  view.setUint32(16, tag.byteLength, true);
  view.setUint32(20, crc32(frame.subarray(HEADER_BYTES), seed), true);
  view.setUint32(24, crc32(frame.subarray(0, 24), seed), true);
  return frame;
}

/**
 * How many bytes the frame has that this header begins; null when it cannot be believed, or says
 * more than the `room` that there is.
 */
export function frameBytes(header: Uint8Array, room: number, seed: number): number | null {
  const found = decodeFrame(header, 0, seed);
  const end = 'broken' in found ? found.header?.end : found.end;
  return end === undefined || end > room ? null : end;
}

/** The frame at `offset`. Its tag and bytes are views of `file`. */
export function decodeFrame(file: Uint8Array, offset: number, seed: number): Frame | Broken {
  if (file.byteLength - offset < HEADER_BYTES) return { broken: 'the file ends inside a header' };
  const view = new DataView(file.buffer, file.byteOffset + offset, HEADER_BYTES);
  const covered = file.subarray(offset, offset + 24);
  if (MAGIC.some((byte, at) => covered[at] !== byte)) return { broken: 'no entry begins here' };
  if (view.getUint32(24, true) !== crc32(covered, seed)) {
    return { broken: 'the checksum of an entry header is wrong' };
  }
  const slot = Number(view.getBigUint64(8, true));
  const tagStart = offset + HEADER_BYTES;
  const tagEnd = tagStart + view.getUint32(16, true);
  const end = tagEnd + view.getUint32(4, true);
  const header = { slot, end };
  if (end > file.byteLength) return { broken: 'the file ends inside an entry', header };
  if (view.getUint32(20, true) !== crc32(file.subarray(tagStart, end), seed)) {
    return { broken: 'the checksum of an entry is wrong', header };
  }
  return { slot, tag: file.subarray(tagStart, tagEnd), bytes: file.subarray(tagEnd, end), end };
}

/**
 * Whether the whole header of a frame of a slot after `slot` stands anywhere behind `offset`.
 * Frames of earlier slots may: somebody can have copied them into a payload.
 */
export function hasLaterFrame(file: Uint8Array, offset: number, slot: Slot, seed: number): boolean {
  const search = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  for (let at = search.indexOf(MAGIC, offset + 1); at >= 0; at = search.indexOf(MAGIC, at + 1)) {
    const found = decodeFrame(file, at, seed);
    const header = 'broken' in found ? found.header : found;
    if (header !== undefined && header.slot > slot) return true;
  }
  return false;
}
