/**
 * The file `journal`: its head and the frames of consecutive slots, append-only.
 *
 * **Invariant**: nothing is written behind a frame that may be incomplete. After a failed write the
 * file is cut back first, and until that succeeds nothing is appended or read.
 *
 * **Invariant**: what `append` resolves for, and what `open` has read, survives a loss of power (an
 * append only if it was strict).
 *
 * **Invariant**: of what a failed flush may have lost, nothing is called durable before it was
 * written again: the next flush of it would succeed without writing it.
 *
 * **Cost**: one write and, when strict, one flush per append; one more small write for every
 * 64 KiB. In memory: one number per entry.
 */
import { join } from 'node:path';
import { FencepostError, quote } from '../errors.js';
import { type Disk, type DiskFile, readAll, readFully, writeFully } from './disk.js';
import { corrupt, isFull, nothingStored, outcomeUnknown } from './disk-error.js';
import { decodeFrame, encodeFrame, type Frame } from './frame.js';
import type { Entry, Slot, Torn } from './journal.js';
import { type LogHead, newLog, readHead, type Tip } from './log-head.js';
import type { Mark } from './mark.js';
import { replaceFile } from './replace-file.js';
import { scanFrames } from './scan.js';

/** How much is appended before the mark follows. */
const BYTES_PER_MARK = 1 << 16;

/** A file that was read, and found to be whole but for its tail. Nothing is changed yet. */
export interface ReadLog {
  log: LogFile;
  name: string;
  frames: Frame[];
  torn: Torn | null;
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
  #head: LogHead;
  /** Where each frame begins, and where the last one ends. */
  #bounds: number[];
  #tip: Tip | null;
  #tail: Tail = 'clean';
  #isStrict = true;
  /** What was read behind the mark. A dead process may have left it in memory only. */
  #found: Uint8Array = new Uint8Array(0);
  /** A flush of acknowledged entries failed. */
  #isSuspect = false;
  /** Some file systems count no links; there a deleted file goes unnoticed. */
  readonly #countsLinks: boolean;
  /** A file took a name, but a loss of power may still bring its predecessor back. */
  #namesPending = false;

  private constructor(disk: Disk, directory: string, file: DiskFile, head: LogHead) {
    this.#disk = disk;
    this.#directory = directory;
    this.path = logPath(directory);
    this.#file = file;
    this.#head = head;
    this.#bounds = [head.end];
    this.#tip = head.base.slot > 0 ? head.base : null;
    this.#countsLinks = file.stat().links > 0;
  }

  /** Makes an empty log, durably. */
  static async create(disk: Disk, directory: string, name: string): Promise<LogFile> {
    const base = { slot: 0, tag: new Uint8Array(0) };
    const { head, parts } = newLog(name, base, [], 'closed');
    const file = await replaceFile(disk, logPath(directory), parts);
    const log = new LogFile(disk, directory, file, head);
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
      const head = readHead(bytes, path);
      const { frames, end, torn } = scanFrames(bytes, head, path);
      const log = new LogFile(disk, directory, file, head);
      for (const frame of frames) log.#bounds.push(frame.end);
      const last = frames.at(-1);
      if (last !== undefined) log.#tip = { slot: last.slot, tag: last.tag.slice() };
      log.#found = bytes.subarray(head.marks.newest.end, end);
      return { log, name: head.name, frames, torn };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get tip(): Tip | null {
    return this.#tip;
  }

  /** The entry before the first one that can be read; slot 0 when there is none. */
  get base(): Tip {
    return this.#head.base;
  }

  /** The first slot that can be read; the slot after the tip when there is none. */
  get first(): Slot {
    return this.base.slot + 1;
  }

  bytesOf(slot: Slot): number {
    return this.#bound(slot + 1) - this.#bound(slot);
  }

  /** Makes what was read the durable beginning, without a torn tail, and takes entries. */
  async settle(isStrict: boolean): Promise<void> {
    const { marks } = this.#head;
    if (marks.newest.state !== 'closed') {
      // The trap: readers will now rely on it, and a flush alone does nothing for what an earlier
      // one failed to write, be it that of a process long dead.
      await writeFully(this.#file, this.#found, marks.newest.end);
      if (this.#file.stat().size > this.#end()) await this.#file.truncate(this.#end());
      await this.#file.sync();
    }
    this.#found = new Uint8Array(0);
    await this.#mark(isStrict ? 'strict' : 'relaxed');
    await this.#disk.syncDirectory(this.#directory);
    this.#isStrict = isStrict;
  }

  /** Says that nothing follows, durably. Says nothing while it is not certain how the log ends. */
  async finish(): Promise<void> {
    if (this.#tail !== 'clean' || this.#namesPending) return;
    this.requireUntouched();
    if (!this.#isStrict) await this.sync();
    await this.#mark('closed');
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
      if (this.#tail === 'unknown') await this.#flush();
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
  async append(entry: Entry): Promise<void> {
    const slot = this.#slot() + 1;
    const tag = entry.tag.slice();
    const frame = encodeFrame(slot, entry, this.#head.seed);
    if (this.#isStrict) await this.#raiseMark();
    await this.#write(frame);
    if (this.#isStrict) await this.#flushFrame();
    // Deleted in between: the frame is in a file that nobody will ever read.
    if (this.#countsLinks && this.#file.stat().links === 0) {
      throw replaced(this.path, {});
    }
    this.#bounds.push(this.#end() + frame.byteLength);
    this.#tip = { slot, tag };
  }

  /** The frames from `slot` to the tip. */
  async readFrom(slot: Slot): Promise<Frame[]> {
    return this.#readBetween(slot, this.#slot() + 1);
  }

  /** The tag of an entry that can be read. */
  async tagOf(slot: Slot): Promise<Uint8Array> {
    const [frame] = await this.#readBetween(slot, slot + 1);
    if (frame === undefined) throw new Error(`slot ${slot} is between the first and the tip`);
    return frame.tag;
  }

  /** Makes everything appended so far survive a loss of power. */
  async sync(): Promise<void> {
    if (this.#isSuspect) await this.#renew(this.first);
    else await this.#flush();
  }

  /** Writes the log anew without what is older than `oldest`. */
  async dropBefore(oldest: Slot): Promise<void> {
    if (oldest > this.first) await this.#renew(oldest);
  }

  async #renew(oldest: Slot): Promise<void> {
    const { name, base } = this.#head;
    const before = oldest === this.first ? [] : await this.#readBetween(oldest - 1, oldest);
    const kept = await this.readFrom(oldest);
    const { slot, tag } = before[0] ?? base;
    const state = this.#isStrict ? 'strict' : 'relaxed';
    const { head, bounds, parts } = newLog(name, { slot, tag: tag.slice() }, kept, state);
    const file = await replaceFile(this.#disk, this.path, parts);
    const old = this.#file;
    this.#file = file;
    this.#head = head;
    this.#bounds = bounds;
    this.#isSuspect = false;
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

  async #flushFrame(): Promise<void> {
    try {
      await this.#flush();
    } catch (error) {
      // The trap: a second flush would succeed without having written what the first one lost. Only
      // cutting the frame off and writing it again makes the disk and the memory agree.
      this.#tail = 'unknown';
      throw outcomeUnknown(error, 'could not flush', this.path);
    }
  }

  /** Every flush but the first, which is all that has happened to the file by then. */
  async #flush(): Promise<void> {
    const { marks } = this.#head;
    try {
      await this.#file.sync();
    } catch (error) {
      marks.forget();
      if (!this.#isStrict) this.#isSuspect = true;
      throw error;
    }
    marks.settle();
  }

  /** Says durably what the log is up to here, all of which is durable. */
  async #mark(state: Mark['state']): Promise<void> {
    await this.#head.marks.write(this.#file, { state, slot: this.#slot(), end: this.#end() });
    await this.#flush();
  }

  /** The mark follows the log from afar, and is flushed with the entry that comes next. */
  async #raiseMark(): Promise<void> {
    const { marks } = this.#head;
    if (this.#end() - marks.newest.end < BYTES_PER_MARK) return;
    const mark = { state: 'strict', slot: this.#slot(), end: this.#end() } as const;
    try {
      await marks.write(this.#file, mark);
    } catch (error) {
      marks.forget();
      throw nothingStored(error, 'could not write', this.path);
    }
  }

  async #readBetween(from: Slot, to: Slot): Promise<Frame[]> {
    const start = this.#bound(from);
    const bytes = new Uint8Array(this.#bound(to) - start);
    await readFully(this.#file, bytes, start);
    const frames: Frame[] = [];
    for (let offset = 0; offset < bytes.byteLength; ) {
      const found = decodeFrame(bytes, offset, this.#head.seed);
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
    return this.#bound(this.#slot() + 1);
  }

  #slot(): Slot {
    return this.#tip?.slot ?? 0;
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
