/**
 * How the files of the file journal begin. All numbers are little-endian.
 *
 * ```text
 *  0  magic        8   FNCPJRNL, FNCPSNAP
 *  8  format       4   of the whole file
 * 12  min reader   4   readers of a lower format must not touch it
 * 16  salt         8   random, new whenever the file is written anew
 * 24  name length  4
 * 28  store name   …   UTF-8
 *  …  checksum     4   CRC-32 of everything before
 * ```
 *
 * **Invariant**: magic, format and min reader stand first and are covered by no checksum that a
 * reader must understand, so that any later format can still be told from damage.
 */

import { crc32 } from 'node:zlib';
import { FencepostError, quote } from '../errors.js';
import { host, latin1, textDecoder, textEncoder } from '../host.js';
import { corrupt } from './disk-error.js';

export type FileKind = 'journal' | 'snapshot';

/** The formats this build writes, and the newest it reads. */
export const FORMATS: Record<FileKind, number> = { journal: 1, snapshot: 2 };

const MAGICS: Record<FileKind, string> = { journal: 'FNCPJRNL', snapshot: 'FNCPSNAP' };
const SALT_BYTES = 8;
const FIXED_BYTES = 28;
const CHECKSUM_BYTES = 4;

export interface Preamble {
  format: number;
  name: string;
  /** Starts the checksums of the file's frames: frames of another file never look valid here. */
  seed: number;
  /** Where the first frame begins. */
  end: number;
}

/** The preamble of a new file, and what a reader will find in it. */
export function newPreamble(kind: FileKind, name: string): { bytes: Uint8Array; seed: number } {
  const nameBytes = textEncoder().encode(name);
  const covered = FIXED_BYTES + nameBytes.byteLength;
  const bytes = new Uint8Array(covered + CHECKSUM_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(textEncoder().encode(MAGICS[kind]));
  view.setUint32(8, FORMATS[kind], true);
  view.setUint32(12, FORMATS[kind], true);
  const salt = host('crypto').getRandomValues(bytes.subarray(16, 16 + SALT_BYTES));
  view.setUint32(24, nameBytes.byteLength, true);
  bytes.set(nameBytes, FIXED_BYTES);
  view.setUint32(covered, crc32(bytes.subarray(0, covered)), true);
  return { bytes, seed: crc32(salt) };
}

/**
 * @throws FencepostError `JOURNAL_CORRUPT` for a foreign or damaged file, `FORMAT_TOO_NEW` for one
 *   that a later build wrote; both name `path`
 */
export function readPreamble(kind: FileKind, bytes: Uint8Array, path: string): Preamble {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = latin1(bytes.subarray(0, 8));
  if (magic !== MAGICS[kind]) {
    throw corrupt(path, `expected a Fencepost ${kind}, got a file that begins ${quote(magic)}`, 0);
  }
  if (bytes.byteLength < 16) throw corrupt(path, 'the file ends inside its header', 8);
  const format = view.getUint32(8, true);
  requireReadable(kind, format, view.getUint32(12, true), path);
  if (bytes.byteLength < FIXED_BYTES) throw corrupt(path, 'the file ends inside its header', 16);
  const covered = FIXED_BYTES + view.getUint32(24, true);
  if (bytes.byteLength < covered + CHECKSUM_BYTES) {
    throw corrupt(path, 'the file ends inside its header', FIXED_BYTES);
  }
  if (view.getUint32(covered, true) !== crc32(bytes.subarray(0, covered))) {
    throw corrupt(path, 'the checksum of the header is wrong', covered);
  }
  return {
    format,
    name: textDecoder().decode(bytes.subarray(FIXED_BYTES, covered)),
    seed: crc32(bytes.subarray(16, 16 + SALT_BYTES)),
    end: covered + CHECKSUM_BYTES,
  };
}

function requireReadable(kind: FileKind, format: number, minReader: number, path: string): void {
  const supported = FORMATS[kind];
  if (minReader <= supported) return;
  throw new FencepostError(
    'FORMAT_TOO_NEW',
    `${quote(path)}: format ${format} needs a reader of format ${minReader}, this is ${supported}`,
    { details: { path, format, minReader, supported, stored: false } },
  );
}
