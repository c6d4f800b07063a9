/**
 * The journal in a directory: the files `journal`, `snapshot` and `lock.<number>`. For Node, Deno
 * and Bun, on a local disk.
 *
 * **Invariant**: one holder at a time; the lock is older than any other access to the directory.
 *
 * **Invariant**: a file that is not understood is left as it is.
 *
 * **Cost**: one write and, when strict, one flush per commit. Entries and snapshot are read from
 * disk when they are asked for; in memory stays one number per entry.
 */
import { resolve } from 'node:path';
import { FencepostError, quote } from '../errors.js';
import { defaultPath } from './default-path.js';
import { type Disk, systemDisk } from './disk.js';
import { corrupt, nothingStored, storedButFailed, systemCode } from './disk-error.js';
import type { Frame } from './frame.js';
import type {
  Durability,
  Entry,
  Journal,
  JournalOptions,
  News,
  Slot,
  Snapshot,
  SnapshotParts,
} from './journal.js';
import { acquireLock, type Lock, type LockOptions } from './lockfile.js';
import { LogFile, logPath, type ReadLog } from './log-file.js';
import type { Tip } from './log-head.js';
import { moveAside } from './move-aside.js';
import { temporaryPath } from './replace-file.js';
import { oldestKept } from './retention.js';
import { findSnapshot, readSnapshot, SnapshotDraft, snapshotPath } from './snapshot-file.js';
import { Turns } from './turns.js';

interface Opened {
  name: string;
  directory: string;
  lock: Lock;
  log: LogFile;
  snapshotSlot: Slot;
  isStrict: boolean;
}

type Acquire = (directory: string, options: LockOptions) => Promise<Lock>;

/** How it is opened; tests give it a disk that fails, and need no lock on that. */
export interface FileJournalParts {
  readonly durability?: Durability | undefined;
  readonly lock?: LockOptions;
  readonly disk?: Disk;
  readonly acquire?: Acquire;
}

export class FileJournal implements Journal {
  readonly #directory: string | null;
  readonly #durability: Durability | undefined;
  readonly #lockOptions: LockOptions;
  readonly #disk: Disk;
  readonly #acquireLock: Acquire;
  readonly #turns = new Turns();
  readonly #compactions = new Turns();
  /** The snapshot that is written, or was. */
  #draft: Promise<SnapshotDraft> | null = null;
  #opened: Opened | null = null;

  constructor(directory: string | null, parts: FileJournalParts = {}) {
    this.#directory = directory;
    this.#durability = parts.durability;
    this.#lockOptions = parts.lock ?? { wait: 0, force: false };
    this.#disk = parts.disk ?? systemDisk;
    this.#acquireLock = parts.acquire ?? acquireLock;
  }

  open(name: string, options: JournalOptions = {}): Promise<News> {
    const directory = this.#directory ?? resolve(defaultPath(name));
    const isStrict = (this.#durability ?? options.durability ?? 'strict') === 'strict';
    options.onWait?.(this.#lockOptions.wait);
    return this.#turns.run(async () => {
      await this.#makeDirectory(directory);
      let lock: Lock | null = null;
      try {
        lock = await this.#acquireLock(directory, this.#lockOptions);
        if (lock.mustFence) await moveAside(this.#disk, logPath(directory));
        const { news, log } = await this.#load(name, directory, isStrict);
        const snapshotSlot = news.snapshot?.slot ?? 0;
        this.#opened = { name, directory, lock, log, snapshotSlot, isStrict };
        return { ...news, tenure: lock };
      } catch (error) {
        lock?.release();
        throw nothingStored(error, 'could not open the journal', directory);
      }
    });
  }

  commit(after: Slot, decide: (news: News) => Entry | null): Promise<void> {
    return this.#turns.run(async () => {
      const opened = this.#requireOpened();
      await this.#requireWritable(opened);
      const entry = decide(await this.#newsAfter(after, opened));
      if (entry === null) return;
      await opened.log.append(entry);
      // Whoever took the lock has read the journal since, with the entry or without it.
      if (!opened.lock.isHeld()) throw lockRemoved(opened.directory, {});
    });
  }

  /** Commits get their turns while the snapshot is written. */
  compact(slot: Slot, parts: SnapshotParts): Promise<void> {
    return this.#compactions.run(async () => {
      const opened = this.#requireOpened();
      const tag = await this.#turns.run(() => this.#tagToCompact(slot, opened));
      if (tag === null) return;
      const goOn = () => this.#requireStill(opened);
      const head = { name: opened.name, slot, tag };
      this.#draft = SnapshotDraft.write(this.#disk, opened.directory, head, parts, goOn);
      const draft = await this.#draft;
      await this.#turns.run(async () => {
        await this.#replaceSnapshot(slot, draft, opened);
        await this.#shorten(slot, opened);
      });
    });
  }

  close(): Promise<void> {
    return this.#turns.run(async () => {
      const opened = this.#opened;
      if (opened === null) return;
      this.#opened = null;
      // Everything acknowledged is as durable as was promised. This makes a relaxed log durable,
      // and tells the next opening that nothing is missing; where it fails, that goes without.
      if (opened.lock.isHeld()) await Promise.allSettled([opened.log.finish()]);
      await Promise.allSettled([opened.log.close()]);
      // Whoever has the directory next must not find a snapshot that is being written in it.
      await this.#draft?.then((draft) => draft.drop()).catch(() => undefined);
      opened.lock.release();
    });
  }

  async #makeDirectory(directory: string): Promise<void> {
    try {
      await this.#disk.makeDirectory(directory);
    } catch (error) {
      if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOTDIR') {
        const what = `expected a directory, got the file ${quote(directory)}`;
        throw new FencepostError('INVALID_ARGUMENT', `file(path): ${what}`, {
          details: { argument: 'path', path: directory, stored: false },
        });
      }
      throw nothingStored(error, 'could not make the directory', directory);
    }
  }

  /** Everything is read and checked before anything is changed. */
  async #load(
    name: string,
    directory: string,
    isStrict: boolean,
  ): Promise<{ news: News; log: LogFile }> {
    const snapshot = await findSnapshot(this.#disk, directory);
    const read = await LogFile.read(this.#disk, directory);
    let log = read?.log;
    try {
      for (const holds of [snapshot, read]) {
        if (holds !== null) requireName(name, holds.name, directory);
      }
      if (read !== null) requireContinuous(read, snapshot);
      else if (snapshot !== null) throw corrupt(directory, 'there is a snapshot, but no journal');
      log ??= await LogFile.create(this.#disk, directory, name);
      await log.settle(isStrict);
      await this.#removeLeftovers(log.path, snapshotPath(directory));
      const news = firstNews(log, read);
      const { slot } = snapshot ?? { slot: 0 };
      news.entries = bytesOf(read?.frames.filter((frame) => frame.slot > slot) ?? []);
      if (snapshot !== null) news.snapshot = this.#snapshotAt(slot, directory);
      return { news, log };
    } catch (error) {
      await log?.close();
      throw error;
    }
  }

  /** What an interrupted compaction left behind. */
  async #removeLeftovers(...paths: string[]): Promise<void> {
    for (const path of paths.map(temporaryPath)) {
      try {
        await this.#disk.remove(path);
      } catch (error) {
        throw nothingStored(error, 'could not remove what a crash left behind', path);
      }
    }
  }

  #snapshotAt(slot: Slot, directory: string): Snapshot {
    return { slot, parts: readSnapshot(this.#disk, directory, slot) };
  }

  async #requireWritable({ log, lock, directory }: Opened): Promise<void> {
    await log.repair();
    log.requireUntouched();
    if (!lock.isHeld()) throw lockRemoved(directory, { stored: false });
  }

  async #newsAfter(after: Slot, opened: Opened): Promise<News> {
    const { log, directory } = opened;
    const tip = log.tip && { slot: log.tip.slot, tag: log.tip.tag.slice() };
    if (tip === null || after >= tip.slot) return { tip, entries: [] };
    try {
      const { snapshotSlot: slot } = opened;
      if (after + 1 >= log.first && (after > 0 || slot === 0)) {
        return { tip, entries: bytesOf(await log.readFrom(after + 1)) };
      }
      const snapshot = this.#snapshotAt(slot, directory);
      return { tip, snapshot, entries: bytesOf(await log.readFrom(slot + 1)) };
    } catch (error) {
      throw nothingStored(error, 'could not read', directory);
    }
  }

  /** The tag of the entry at the slot; null when there is a snapshot as new. */
  async #tagToCompact(slot: Slot, opened: Opened): Promise<Uint8Array | null> {
    await this.#requireWritable(opened);
    if (slot <= opened.snapshotSlot) return null;
    requireReached(slot, opened.log);
    try {
      const tag = await opened.log.tagOf(slot);
      // A snapshot that is durable before the entries in it would survive them.
      if (!opened.isStrict) await opened.log.sync();
      return tag;
    } catch (error) {
      throw nothingStored(error, 'could not make the entries durable', opened.log.path);
    }
  }

  async #replaceSnapshot(slot: Slot, draft: SnapshotDraft, opened: Opened): Promise<void> {
    const { directory } = opened;
    try {
      this.#requireStill(opened);
      await this.#requireWritable(opened);
      await draft.activate();
    } catch (error) {
      await draft.drop();
      throw nothingStored(error, 'could not write the snapshot', snapshotPath(directory));
    }
    opened.snapshotSlot = slot;
  }

  /** Until the snapshot is durable, the entries in it stay. */
  async #shorten(slot: Slot, { log }: Opened): Promise<void> {
    try {
      await log.settleNames();
      await log.dropBefore(oldestKept(slot, log.first, (kept) => log.bytesOf(kept)));
    } catch (error) {
      throw storedButFailed(error, 'the snapshot is written, but old entries remain', log.path);
    }
  }

  #requireOpened(): Opened {
    if (this.#opened !== null) return this.#opened;
    throw notOpen();
  }

  /** It may have been closed meanwhile, and opened again. */
  #requireStill(opened: Opened): void {
    if (this.#opened !== opened) throw notOpen();
  }
}

function notOpen(): FencepostError {
  return new FencepostError('STORE_CLOSED', 'the file journal is not open', {
    details: { stored: false },
  });
}

function firstNews(log: LogFile, read: ReadLog | null): News {
  const tip = log.tip && { slot: log.tip.slot, tag: log.tip.tag.slice() };
  const news: News = { tip, entries: [] };
  if (read !== null && read.torn !== null) news.torn = read.torn;
  return news;
}

function lockRemoved(directory: string, outcome: { stored?: false }): FencepostError {
  return new FencepostError(
    'JOURNAL_UNAVAILABLE',
    `the lock in ${quote(directory)} was removed: another process may have the journal open`,
    { details: { path: directory, ...outcome } },
  );
}

function bytesOf(frames: readonly Frame[]): Uint8Array[] {
  return frames.map((frame) => frame.bytes);
}

/**
 * Log and snapshot must belong together. The newest entry in a snapshot was durable in the log when
 * the snapshot was written, and is still known to it when everything before is dropped.
 */
function requireContinuous({ log, frames }: ReadLog, snapshot: Tip | null): void {
  const { base, tip, path } = log;
  const slot = snapshot?.slot ?? 0;
  if (slot < base.slot) {
    const got = snapshot === null ? 'none' : `one at slot ${slot}`;
    throw corrupt(path, `expected a snapshot at slot ${base.slot} or later beside it, got ${got}`);
  }
  if (snapshot === null) return;
  const same = slot === base.slot ? base : frames[slot - base.slot - 1];
  if (same === undefined) {
    throw corrupt(path, `the snapshot at slot ${slot} is newer than its end at ${tip?.slot ?? 0}`);
  }
  if (Buffer.compare(same.tag, snapshot.tag) !== 0) {
    throw corrupt(path, `the snapshot at slot ${slot} is of another log`);
  }
}

function requireReached(slot: Slot, log: LogFile): void {
  const tip = log.tip?.slot ?? 0;
  if (slot <= tip) return;
  throw new FencepostError(
    'LOG_REPLACED',
    `compact(slot): ${quote(log.path)} ends at slot ${tip}, before slot ${slot}`,
    { details: { argument: 'slot', path: log.path, stored: false } },
  );
}

function requireName(asked: string, holds: string, directory: string): void {
  if (asked === holds) return;
  const what = `${quote(directory)} holds the store ${quote(holds)}, not ${quote(asked)}`;
  throw new FencepostError('INVALID_ARGUMENT', `open(name): ${what}`, {
    details: { argument: 'name', holds, path: directory, stored: false },
  });
}
