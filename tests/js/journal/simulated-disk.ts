/**
 * A disk in memory that forgets what was not flushed when the power goes, as badly as a real one
 * may:
 *
 * - of writes that were not flushed, any sectors may be there and any may not, and the length may
 *   be the old or the new one;
 * - of names that were not flushed, a prefix of the changes is there;
 * - a flush that failed has written some and lost the rest, and the next one does not write that
 *   again (as Linux does it), though reading still shows it.
 *
 * Every call is counted, and one of them can fail or be the last before the power goes.
 */
import type { Disk, DiskFile } from '../../../pkg/dist/journal/disk.js';
import type { Random } from './random.js';

export class PowerLoss extends Error {}

type Change = { at: number; bytes: Uint8Array } | { length: number };
type NameChange = { name: string; inode: Inode | null };

const SECTOR = 512;

class Inode {
  /** What a reader sees. */
  seen = new Uint8Array(0);
  /** What is certainly on the platter. */
  flushed = new Uint8Array(0);
  pending: Change[] = [];

  change(change: Change): void {
    this.seen = applied(this.seen, change);
    this.pending.push(change);
  }

  flush(): void {
    for (const change of this.pending) this.flushed = applied(this.flushed, change);
    this.pending = [];
  }

  /** Some of it is written, and the rest will never be. */
  flushBadly(random: Random): void {
    for (const change of this.pending) this.flushed = partlyApplied(this.flushed, change, random);
    this.pending = [];
  }

  copy(): Inode {
    const copy = new Inode();
    copy.seen = this.seen;
    copy.flushed = this.flushed;
    copy.pending = [...this.pending];
    return copy;
  }

  afterPowerLoss(random: Random): Inode {
    const copy = new Inode();
    let content = this.flushed;
    for (const change of this.pending) content = partlyApplied(content, change, random);
    copy.seen = content;
    copy.flushed = content;
    return copy;
  }
}

/** What a planned call does: fail with this code, after so many bytes if it is a write. */
export interface PlannedFault {
  call: number;
  code: 'ENOSPC' | 'EIO' | 'POWER';
  /** For how many calls it goes on. */
  times: number;
}

export class SimulatedDisk implements Disk {
  #names = new Map<string, Inode>();
  #flushedNames = new Map<string, Inode>();
  #pendingNames: NameChange[] = [];
  /** Calls so far, and what each was. */
  calls: string[] = [];
  fault: PlannedFault | null = null;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** An equal disk with another future. */
  copy(random: Random): SimulatedDisk {
    const inodes = new Map<Inode, Inode>();
    const copyOf = (inode: Inode): Inode => {
      const copy = inodes.get(inode) ?? inode.copy();
      inodes.set(inode, copy);
      return copy;
    };
    const copy = new SimulatedDisk(random);
    for (const [name, inode] of this.#names) copy.#names.set(name, copyOf(inode));
    for (const [name, inode] of this.#flushedNames) copy.#flushedNames.set(name, copyOf(inode));
    copy.#pendingNames = this.#pendingNames.map(({ name, inode }) => ({
      name,
      inode: inode && copyOf(inode),
    }));
    return copy;
  }

  /** The disk that is found when the power is back. */
  afterPowerLoss(): SimulatedDisk {
    const found = new SimulatedDisk(this.#random);
    const names = new Map(this.#flushedNames);
    const kept = this.#random.below(this.#pendingNames.length + 1);
    for (const { name, inode } of this.#pendingNames.slice(0, kept)) setName(names, name, inode);
    for (const [name, inode] of names) {
      const after = inode.afterPowerLoss(this.#random);
      found.#names.set(name, after);
      found.#flushedNames.set(name, after);
    }
    return found;
  }

  /** The disk that is found when only the process died: everything that was written is there. */
  afterProcessDeath(): SimulatedDisk {
    const found = this.copy(this.#random);
    found.fault = null;
    return found;
  }

  async makeDirectory(): Promise<void> {
    this.step('makeDirectory');
  }

  async open(path: string): Promise<DiskFile | null> {
    this.step('open');
    const inode = this.#names.get(path);
    return inode ? this.#opened(inode) : null;
  }

  async create(path: string): Promise<DiskFile> {
    this.step('create');
    const existing = this.#names.get(path);
    if (existing) existing.change({ length: 0 });
    const inode = existing ?? new Inode();
    if (!existing) this.#change(path, inode);
    return this.#opened(inode);
  }

  async rename(from: string, to: string): Promise<void> {
    this.step('rename');
    const inode = this.#names.get(from);
    if (!inode) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    this.#change(to, inode);
    this.#change(from, null);
  }

  async remove(path: string): Promise<void> {
    this.step('remove');
    if (this.#names.has(path)) this.#change(path, null);
  }

  async syncDirectory(): Promise<void> {
    this.step('syncDirectory');
    this.#flushedNames = new Map(this.#names);
    this.#pendingNames = [];
  }

  /** Counts a call; throws when it is to fail. */
  step(what: string): void {
    this.calls.push(what);
    const { fault } = this;
    if (fault === null || this.calls.length < fault.call) return;
    if (fault.code === 'POWER') throw new PowerLoss(`the power went at ${what}`);
    if (this.calls.length >= fault.call + fault.times) return;
    throw Object.assign(new Error(`planned ${fault.code} at ${what}`), { code: fault.code });
  }

  #change(name: string, inode: Inode | null): void {
    setName(this.#names, name, inode);
    this.#pendingNames.push({ name, inode });
  }

  #opened(inode: Inode): DiskFile {
    const disk = this;
    return {
      async read(into, position) {
        disk.step('read');
        const part = inode.seen.subarray(position, position + into.byteLength);
        into.set(part);
        return part.byteLength;
      },
      async write(bytes, position) {
        // A failing write still takes a part, and a short one is no failure.
        const part = disk.#random.below(bytes.byteLength);
        try {
          disk.step('write');
        } catch (error) {
          // A network disk may have done it all, and only its answer is lost.
          const all = disk.fault?.code === 'EIO' && disk.#random.below(2) === 0;
          inode.change({ at: position, bytes: all ? bytes.slice() : bytes.slice(0, part) });
          throw error;
        }
        const taken = disk.#random.below(4) === 0 ? Math.max(1, part) : bytes.byteLength;
        inode.change({ at: position, bytes: bytes.slice(0, taken) });
        return taken;
      },
      async truncate(length) {
        disk.step('truncate');
        inode.change({ length });
      },
      async sync() {
        try {
          disk.step('sync');
        } catch (error) {
          if (!(error instanceof PowerLoss)) inode.flushBadly(disk.#random);
          throw error;
        }
        inode.flush();
      },
      stat: () => ({
        size: inode.seen.byteLength,
        links: [...disk.#names.values()].filter((named) => named === inode).length,
      }),
      async close() {
        disk.step('close');
      },
    };
  }
}

function setName(names: Map<string, Inode>, name: string, inode: Inode | null): void {
  if (inode === null) names.delete(name);
  else names.set(name, inode);
}

function applied(content: Uint8Array, change: Change): Uint8Array<ArrayBuffer> {
  const length =
    'length' in change
      ? change.length
      : Math.max(content.byteLength, change.at + change.bytes.byteLength);
  const result = new Uint8Array(length);
  result.set(content.subarray(0, length));
  if ('bytes' in change) result.set(change.bytes, change.at);
  return result;
}

/** Any sectors of it: those that are missing are as before, or zero where the file grew. */
function partlyApplied(
  content: Uint8Array<ArrayBuffer>,
  change: Change,
  random: Random,
): Uint8Array<ArrayBuffer> {
  const outcome = random.below(4);
  if (outcome === 0) return content;
  if (outcome === 1 || 'length' in change) return applied(content, change);
  const { at, bytes } = change;
  if (outcome === 2) {
    return applied(content, { at, bytes: bytes.subarray(0, random.below(bytes.byteLength + 1)) });
  }
  let result = content;
  for (let start = 0; start < bytes.byteLength; ) {
    // Sectors are those of the file, not of the write.
    const end = Math.min(bytes.byteLength, start + SECTOR - ((at + start) % SECTOR));
    const zeros = new Uint8Array(end - start).subarray(0, end - start);
    const there = random.below(2) === 0 ? bytes.subarray(start, end) : null;
    if (there !== null) result = applied(result, { at: at + start, bytes: there });
    else if (at + end > result.byteLength) {
      const from = Math.max(0, result.byteLength - at - start);
      result = applied(result, { at: at + start + from, bytes: zeros.subarray(from) });
    }
    start = end;
  }
  return result;
}
