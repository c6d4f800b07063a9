/**
 * The few things the file journal asks of a disk. A seam, so that the tests can pull the plug
 * between any two of them.
 *
 * Only `node:` modules that Deno and Bun have as well, and of those only the callback functions:
 * the three agree on them.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { corrupt, systemCode } from './disk-error.js';

/** An open file. Its writes may stop short: they tell how far they came. */
export interface DiskFile {
  read(into: Uint8Array, position: number): Promise<number>;
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Content and length survive a loss of power. */
  sync(): Promise<void>;
  /** Synchronous, since it costs a microsecond. `links` is 0 once the file was deleted. */
  stat(): { size: number; links: number };
  close(): Promise<void>;
}

export interface Disk {
  /** Makes it and what is missing above it; afterwards they survive a loss of power. */
  makeDirectory(path: string): Promise<void>;
  /** Opens a file to read and write; null when it is missing. */
  open(path: string): Promise<DiskFile | null>;
  /** Makes an empty file, or empties the one that is there. */
  create(path: string): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Names made, replaced or removed in it survive a loss of power. */
  syncDirectory(path: string): Promise<void>;
}

const { O_CREAT, O_DSYNC, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC } = fs.constants;

/**
 * Node's permission model forbids to flush an open file. There every write is one that returns when
 * it is durable, `relaxed` or not, and a file that took a name is written to once more.
 */
const MAY_NOT_FLUSH =
  (process as { permission?: object }).permission !== undefined && O_DSYNC !== undefined;
const FLUSHING = MAY_NOT_FLUSH ? O_DSYNC : 0;

/** The disk of the operating system. What it makes is for its user only. */
export const systemDisk: Disk = {
  async makeDirectory(path) {
    const options = { recursive: true, mode: 0o700 } as const;
    const first = await new Promise<string | undefined>((resolve, reject) => {
      fs.mkdir(path, options, (error, made) => (error ? reject(error) : resolve(made)));
    });
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) {
      await syncDirectory(dirname(made));
    }
  },

  async open(path) {
    try {
      return new SystemFile(await openDescriptor(path, O_RDWR | FLUSHING));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      if (systemCode(error) !== 'EISDIR') throw error;
      throw corrupt(path, 'expected a file, got a directory');
    }
  },

  async create(path) {
    const flags = O_RDWR | O_CREAT | O_TRUNC | FLUSHING;
    return new SystemFile(await openDescriptor(path, flags));
  },

  async rename(from, to) {
    await done((callback) => fs.rename(from, to, callback));
    if (MAY_NOT_FLUSH) await flushByWriting(to);
  },

  async remove(path) {
    try {
      await done((callback) => fs.unlink(path, callback));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  },

  syncDirectory,
};

/** Reads a whole open file. */
export async function readAll(file: DiskFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.stat().size);
  return bytes.subarray(0, await readFully(file, bytes, 0));
}

/** Fills `into` from `position`, as far as the file goes; answers how many bytes there were. */
export async function readFully(
  file: DiskFile,
  into: Uint8Array,
  position: number,
): Promise<number> {
  let filled = 0;
  while (filled < into.byteLength) {
    const count = await file.read(into.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** Writes all of `bytes` at `position`. When it throws, not all of them were written. */
export async function writeFully(
  file: DiskFile,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const count = await file.write(bytes.subarray(written), position + written);
    if (count === 0) throw Object.assign(new Error('the disk took no more'), { code: 'ENOSPC' });
    written += count;
  }
}

// Node refuses to move 2 GiB or more in one call.
const TRANSFER_BYTES_MAX = 1 << 30;

class SystemFile implements DiskFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  read(into: Uint8Array, position: number): Promise<number> {
    const length = Math.min(into.byteLength, TRANSFER_BYTES_MAX);
    return new Promise((resolve, reject) => {
      fs.read(this.#descriptor, into, 0, length, position, (error, count) =>
        error ? reject(error) : resolve(count),
      );
    });
  }

  write(bytes: Uint8Array, position: number): Promise<number> {
    const length = Math.min(bytes.byteLength, TRANSFER_BYTES_MAX);
    return new Promise((resolve, reject) => {
      fs.write(this.#descriptor, bytes, 0, length, position, (error, count) =>
        error ? reject(error) : resolve(count),
      );
    });
  }

  truncate(length: number): Promise<void> {
    return done((callback) => fs.ftruncate(this.#descriptor, length, callback));
  }

  sync(): Promise<void> {
    if (MAY_NOT_FLUSH) return Promise.resolve();
    // fdatasync also flushes the length; what it leaves out are times nobody reads.
    return done((callback) => fs.fdatasync(this.#descriptor, callback));
  }

  stat(): { size: number; links: number } {
    const { size, nlink } = fs.fstatSync(this.#descriptor);
    return { size, links: nlink };
  }

  close(): Promise<void> {
    return done((callback) => fs.close(this.#descriptor, callback));
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot sync a directory and needs no such thing: NTFS logs its names.
  if (process.platform === 'win32' || MAY_NOT_FLUSH) return;
  const descriptor = await openDescriptor(path, O_RDONLY);
  try {
    await done((callback) => fs.fsync(descriptor, callback));
  } finally {
    await done((callback) => fs.close(descriptor, callback));
  }
}

/** Writes the first byte of a file again, and with it whatever there is to know of the file. */
async function flushByWriting(path: string): Promise<void> {
  const file = new SystemFile(await openDescriptor(path, O_RDWR | O_SYNC));
  try {
    const byte = new Uint8Array(1);
    if ((await file.read(byte, 0)) === 1) await writeFully(file, byte, 0);
  } finally {
    await file.close();
  }
}

function openDescriptor(path: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, descriptor) =>
      error ? reject(error) : resolve(descriptor),
    );
  });
}

function done(start: (callback: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}
