/**
 * The file `journal`: a preamble and the frames of consecutive slots, append-only.
 *
 * **Invariant**: nothing is written behind a frame that may be incomplete. After a failed write the
 * file is cut back first, and until that succeeds nothing is appended or read.
 *
 * **Invariant**: what `append` resolves for, and what `open` has read, survives a loss of power (an
 * append only if it was strict).
 *
 * **Cost**: one write and, when strict, one flush per append. In memory: one number per entry.
 */
import { join } from 'node:path';
import { FencepostError, quote } from '../errors.js';
import { type Disk, type DiskFile, readAll, readFully, writeFully } from './disk.js';
import { corrupt, isFull, nothingStored, outcomeUnknown } from './disk-error.js';
import { decodeFrame, encodeFrame, type Frame } from './frame.js';
import type { Entry, Slot } from './journal.js';
import { newPreamble, readPreamble } from './preamble.js';
import { replaceFile } from './replace-file.js';
import { scanFrames } from './scan.js';

export interface Tip {
  slot: Slot;
  tag: Uint8Array;
}

/** A file that was read, and found to be whole but for its tail. Nothing is changed yet. */
export interface ReadLog {
  log: LogFile;
  name: string;
  frames: Frame[];
  tornBytes: number;
}

/**
 * What stands behind the last whole frame: nothing, a piece of one, or perhaps a whole one that was
 * never acknowledged.
 */
type Tail = 'clean' | 'ragged' | 'unknown';

export class LogFile {
  readonly path: string;
  readonly #disk: Disk;
  readonly #directory: string;
  #file: DiskFile;
  #seed: number;
  /** Where each frame begins, and where the last one ends. */
  #bounds: number[];
  #tip: Tip | null;
  #tail: Tail = 'clean';
  /** Some file systems count no links; there a deleted file goes unnoticed. */
  readonly #countsLinks: boolean;
  /** A file took a name, but a loss of power may still bring its predecessor back. */
  #namesPending = false;

  private constructor(disk: Disk, directory: string, file: DiskFile, seed: number, end: number) {
    this.#disk = disk;
    this.#directory = directory;
    this.path = logPath(directory);
    this.#file = file;
    this.#seed = seed;
    this.#bounds = [end];
    this.#tip = null;
    this.#countsLinks = file.stat().links > 0;
  }

  /** Makes an empty log, durably. */
  static async create(disk: Disk, directory: string, name: string): Promise<LogFile> {
    const { bytes, seed } = newPreamble('journal', name);
    const file = await replaceFile(disk, logPath(directory), [bytes]);
    const log = new LogFile(disk, directory, file, seed, bytes.byteLength);
    await disk.syncDirectory(directory);
    return log;
  }

  /**
   * Reads the log that is there; null when there is none.
   *
   * @throws FencepostError `JOURNAL_CORRUPT` or `FORMAT_TOO_NEW`, which name the file
   */
  static async read(disk: Disk, directory: string): Promise<ReadLog | null> {
    const path = logPath(directory);
    const file = await disk.open(path);
    if (file === null) return null;
    try {
      const bytes = await readAll(file);
      const preamble = readPreamble('journal', bytes, path);
      const { frames, end } = scanFrames(bytes, preamble, path);
      const log = new LogFile(disk, directory, file, preamble.seed, preamble.end);
      for (const frame of frames) log.#bounds.push(frame.end);
      const last = frames.at(-1);
      if (last !== undefined) log.#tip = { slot: last.slot, tag: last.tag.slice() };
      return { log, name: preamble.name, frames, tornBytes: bytes.byteLength - end };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get tip(): Tip | null {
    return this.#tip;
  }

  /** The first slot that can be read; the slot after the tip when there is none. */
  get first(): Slot {
    return (this.#tip?.slot ?? 0) - (this.#bounds.length - 1) + 1;
  }

  bytesOf(slot: Slot): number {
    return this.#bound(slot + 1) - this.#bound(slot);
  }

  /**
   * Makes what was read the durable beginning: cuts off the torn tail, and drops everything when a
   * snapshot at `base` reaches further than the log does.
   */
  async settle(base: Tip | null): Promise<void> {
    if (base !== null && base.slot > (this.#tip?.slot ?? 0)) {
      this.#bounds.length = 1;
      this.#tip = base;
    }
    if (this.#file.stat().size > this.#end()) await this.#file.truncate(this.#end());
    // What a killed process left may only be in memory, and readers will now rely on it.
    await this.#file.sync();
    await this.#disk.syncDirectory(this.#directory);
  }

  /**
   * Brings the file back to its last whole frame after a failed write.
   *
   * @throws FencepostError while it cannot, with `details.stored: false` only if it is certain that
   *   nothing waits behind that frame
   */
  async repair(): Promise<void> {
    if (this.#tail === 'clean' && !this.#namesPending) return;
    const doing = 'could not undo an earlier failed write';
    try {
      if (this.#namesPending) await this.settleNames();
      if (this.#tail !== 'clean') await this.#file.truncate(this.#end());
      if (this.#tail === 'unknown') await this.#file.sync();
      this.#tail = 'clean';
    } catch (error) {
      if (this.#tail === 'unknown') throw outcomeUnknown(error, doing, this.path);
      throw nothingStored(error, doing, this.path);
    }
  }

  /**
   * Makes the names of files that were just replaced durable. While that fails nothing else is
   * done: whatever was stored in a file whose name is lost would be lost with it.
   */
  async settleNames(): Promise<void> {
    this.#namesPending = true;
    await this.#disk.syncDirectory(this.#directory);
    this.#namesPending = false;
  }

  /**
   * @throws FencepostError `LOG_REPLACED` when the file was deleted under us, `JOURNAL_CORRUPT`
   *   when somebody else wrote into it
   */
  requireUntouched(): void {
    const { size, links } = this.#file.stat();
    if (this.#countsLinks && links === 0) throw replaced(this.path, { stored: false });
    if (size === this.#end()) return;
    throw corrupt(
      this.path,
      `expected ${this.#end()} bytes, got ${size}: it was changed while open`,
    );
  }

  /** Stores the entry in the slot after the tip. */
  async append(entry: Entry, strict: boolean): Promise<void> {
    const slot = (this.#tip?.slot ?? 0) + 1;
    const tag = entry.tag.slice();
    const frame = encodeFrame(slot, entry, this.#seed);
    await this.#write(frame);
    if (strict) await this.#flush();
    // Deleted in between: the frame is in a file that nobody will ever read.
    if (this.#countsLinks && this.#file.stat().links === 0) {
      throw replaced(this.path, {});
    }
    this.#bounds.push(this.#end() + frame.byteLength);
    this.#tip = { slot, tag };
  }

  /** The frames from `slot` to the tip. */
  async readFrom(slot: Slot): Promise<Frame[]> {
    return this.#readBetween(slot, (this.#tip?.slot ?? 0) + 1);
  }

  /** The tag of an entry that can be read. */
  async tagOf(slot: Slot): Promise<Uint8Array> {
    const [frame] = await this.#readBetween(slot, slot + 1);
    if (frame === undefined) throw new Error(`slot ${slot} is between the first and the tip`);
    return frame.tag;
  }

  /** Makes everything appended so far survive a loss of power. */
  async sync(): Promise<void> {
    await this.#file.sync();
  }

  /** Writes the log anew without what is older than `oldest`. */
  async dropBefore(oldest: Slot, name: string): Promise<void> {
    if (oldest <= this.first) return;
    const { bytes, seed } = newPreamble('journal', name);
    const kept = await this.readFrom(oldest);
    const frames = kept.map((frame) => encodeFrame(frame.slot, frame, seed));
    // One write for all of them: there may be thousands.
    const file = await replaceFile(this.#disk, this.path, [bytes, Buffer.concat(frames)]);
    const old = this.#file;
    this.#file = file;
    this.#seed = seed;
    let end = bytes.byteLength;
    this.#bounds = [end, ...frames.map((frame) => (end += frame.byteLength))];
    await this.settleNames();
    await old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(frame: Uint8Array): Promise<void> {
    try {
      await writeFully(this.#file, frame, this.#end());
    } catch (error) {
      // Not all of it was taken, so it can only become an entry if more of it follows.
      this.#tail = isFull(error) ? 'ragged' : 'unknown';
      await this.#cutBack(error);
      throw nothingStored(error, 'could not write', this.path);
    }
  }

  async #cutBack(writeError: unknown): Promise<void> {
    try {
      await this.repair();
    } catch {
      if (this.#tail === 'unknown') throw outcomeUnknown(writeError, 'could not write', this.path);
    }
  }

  async #flush(): Promise<void> {
    try {
      await this.#file.sync();
    } catch (error) {
      // The trap: a second flush would succeed without having written what the first one lost. Only
      // cutting the frame off and writing it again makes the disk and the memory agree.
      this.#tail = 'unknown';
      throw outcomeUnknown(error, 'could not flush', this.path);
    }
  }

  async #readBetween(from: Slot, to: Slot): Promise<Frame[]> {
    const start = this.#bound(from);
    const bytes = new Uint8Array(this.#bound(to) - start);
    await readFully(this.#file, bytes, start);
    const frames: Frame[] = [];
    for (let offset = 0; offset < bytes.byteLength; ) {
      const found = decodeFrame(bytes, offset, this.#seed);
      if ('broken' in found) throw corrupt(this.path, found.broken, start + offset);
      frames.push(found);
      offset = found.end;
    }
    return frames;
  }

  #bound(slot: Slot): number {
    const bound = this.#bounds[slot - this.first];
    if (bound === undefined) throw new Error(`slot ${slot} is between the first and the tip`);
    return bound;
  }

  #end(): number {
    return this.#bound((this.#tip?.slot ?? 0) + 1);
  }
}

export function logPath(directory: string): string {
  return join(directory, 'journal');
}

function replaced(path: string, outcome: { stored?: false }): FencepostError {
  return new FencepostError('LOG_REPLACED', `${quote(path)} was deleted while it was open`, {
    details: { path, ...outcome },
  });
}
