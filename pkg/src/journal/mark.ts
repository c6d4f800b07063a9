/**
 * The mark of a log: what is durable in it for certain, and what may have happened since. All
 * numbers are little-endian.
 *
 * ```text
 *  0  state     4   1 strict, 2 relaxed, 3 closed
 *  4  serial    4   of two marks the later one counts
 *  8  slot      8   the newest entry that is durable for certain
 * 16  end       8   where that entry ends in the file
 * 24  checksum  4   CRC-32 of everything before
 * ```
 *
 * There are two places for it, written in turn: one that was torn leaves the one before it.
 *
 * **Invariant**: what a mark says is durable before the mark is. So a log that is whole only up to
 * an earlier entry is damaged, whatever happened to the power.
 *
 * **Cost**: none for a commit. It is written when a log is opened or closed, and beside an entry
 * now and then, to be flushed with it.
 */
import { crc32 } from 'node:zlib';
import { type DiskFile, writeFully } from './disk.js';
import type { Slot } from './journal.js';

const BYTES = 28;
const COVERED_BYTES = 24;
const STATES = ['strict', 'relaxed', 'closed'] as const;

/** Room for both places. */
export const MARKS_BYTES = 2 * BYTES;

export interface Mark {
  /**
   * How entries behind `slot` were written: `strict`, each one durable before the next was begun;
   * `relaxed`, in whatever order the disk liked. Behind `closed` there is nothing.
   */
  readonly state: (typeof STATES)[number];
  readonly slot: Slot;
  readonly end: number;
}

/** The marks of an open file. */
export class Marks {
  readonly #at: number;
  readonly #seed: number;
  #mark: Mark;
  #serial: number;
  /** Written and not yet flushed. */
  #next: Mark | null = null;

  private constructor(at: number, seed: number, mark: Mark, serial: number) {
    this.#at = at;
    this.#seed = seed;
    this.#mark = mark;
    this.#serial = serial;
  }

  /** Those of a new file; `bytes` stand at `at` in it. */
  static create(at: number, seed: number, mark: Mark): { marks: Marks; bytes: Uint8Array } {
    const bytes = new Uint8Array(MARKS_BYTES);
    bytes.set(encode(mark, 0, seed));
    return { marks: new Marks(at, seed, mark, 0), bytes };
  }

  /** Those at `at`; null when not even one of them is whole. */
  static read(file: Uint8Array, at: number, seed: number): Marks | null {
    const found = [decode(file, at, seed), decode(file, at + BYTES, seed)]
      .filter((mark) => mark !== null)
      .sort((left, right) => right.serial - left.serial)
      .at(0);
    return found === undefined ? null : new Marks(at, seed, found.mark, found.serial);
  }

  /** The newest that is flushed. */
  get newest(): Mark {
    return this.#mark;
  }

  async write(file: DiskFile, mark: Mark): Promise<void> {
    const serial = this.#serial + 1;
    await writeFully(file, encode(mark, serial, this.#seed), this.#at + (serial % 2) * BYTES);
    this.#next = mark;
  }

  /** The file was flushed. */
  settle(): void {
    if (this.#next === null) return;
    this.#mark = this.#next;
    this.#serial += 1;
    this.#next = null;
  }

  /** A flush failed: what was written may be there or not, so its place is written again. */
  forget(): void {
    this.#next = null;
  }
}

function encode(mark: Mark, serial: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, STATES.indexOf(mark.state) + 1, true);
  view.setUint32(4, serial, true);
  view.setBigUint64(8, BigInt(mark.slot), true);
  view.setBigUint64(16, BigInt(mark.end), true);
  view.setUint32(COVERED_BYTES, crc32(bytes.subarray(0, COVERED_BYTES), seed), true);
  return bytes;
}

function decode(file: Uint8Array, at: number, seed: number): { mark: Mark; serial: number } | null {
  if (file.byteLength < at + BYTES) return null;
  const view = new DataView(file.buffer, file.byteOffset + at, BYTES);
  const covered = file.subarray(at, at + COVERED_BYTES);
  const state = STATES[view.getUint32(0, true) - 1];
  if (view.getUint32(COVERED_BYTES, true) !== crc32(covered, seed)) return null;
  if (state === undefined) return null;
  const slot = Number(view.getBigUint64(8, true));
  const end = Number(view.getBigUint64(16, true));
  return { mark: { state, slot, end }, serial: view.getUint32(4, true) };
}
