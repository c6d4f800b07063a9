// @ts-check
/**
 * A run: a directory with the store's journal and the server's record. The key `run` in the store
 * says what is delivered and whether that has finished.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { del, FencepostError, open, put } from 'fencepost';
import { file } from 'fencepost/file';
import { counted } from './counted-journal.mjs';
import { RunFailed, UsageError } from './failures.mjs';

/** @typedef {import('fencepost').Store} Store */
/** @typedef {import('fencepost').Lease} Lease */
/** @typedef {{ requests: string, seed: number, finishedAt?: number }} Mark */
/**
 * @typedef {object} RunOptions
 * @property {string} dir
 * @property {'fresh' | 'resume' | 'either'} start
 * @property {number} [seed]
 * @property {string} requests digest of the list
 * @property {AbortSignal} signal ends the wait for another process
 * @property {(text: string) => void} note
 */

const JOURNAL = 'journal';
const RECORD = 'record.jsonl';
const DISCARDED = 'discarded';
const MARK = 'run';
/** Each worker that began has a row, until it ended in order. */
const WORKERS = 'worker/';
const SEED_DEFAULT = 1;
const OPEN_AGAIN_MS = 250;

export class Run {
  #dir;
  #journal;

  /**
   * Goes on with the run that is there or begins a new one; `--help` says when which.
   * @param {RunOptions} options
   */
  static async open(options) {
    await refuseForeignDirectory(options.dir);
    const { run, waited } = await Run.#find(options);
    if (run && !run.#isReplaced(options, waited)) return run;
    await run?.close();
    await discard(options.dir);
    return Run.#load(options);
  }

  /**
   * The run that is there; none when it is damaged, and not wanted anyway.
   * @param {RunOptions} options
   */
  static async #find(options) {
    try {
      return await Run.#loadWhenFree(options);
    } catch (error) {
      const isDamaged = error instanceof FencepostError && error.kind === 'data';
      if (isDamaged && options.start === 'fresh') return { run: undefined, waited: false };
      throw error;
    }
  }

  /** @param {RunOptions} options */
  static async #loadWhenFree(options) {
    for (let waited = false; ; waited = true) {
      try {
        return { run: await Run.#load(options), waited };
      } catch (error) {
        if (!(error instanceof FencepostError && error.code === 'JOURNAL_LOCKED')) throw error;
        if (!waited) options.note(`${error.message}\nWaiting until that process ends.`);
        await sleep(OPEN_AGAIN_MS, undefined, { signal: options.signal });
      }
    }
  }

  /** @param {RunOptions} options */
  static async #load({ dir, requests, seed = SEED_DEFAULT }) {
    await mkdir(dir, { recursive: true });
    const journal = counted(file(join(dir, JOURNAL)));
    const store = await open('deliver', { journal });
    const mark = /** @type {{ value: Mark } | null} */ (await store.kv.get(MARK));
    // Nothing was delivered yet: a record that is there is left over from a run that was discarded.
    if (mark === null) await rm(join(dir, RECORD), { force: true });
    return new Run(dir, journal, store, mark?.value ?? { requests, seed });
  }

  /**
   * @param {string} dir
   * @param {import('./counted-journal.mjs').CountedJournal} journal
   * @param {Store} store
   * @param {Mark} mark
   */
  constructor(dir, journal, store, mark) {
    this.#dir = dir;
    this.#journal = journal;
    this.store = store;
    this.mark = mark;
    this.record = join(dir, RECORD);
    /** How many workers of this run were killed, as far as they had begun. */
    this.killed = 0;
  }

  get isFinished() {
    return this.mark.finishedAt !== undefined;
  }

  /**
   * Marks the run and its worker, if that is still to do. Whoever has a row there already was
   * killed: only one worker holds the lease at a time.
   * @param {Lease} lease
   */
  async begin(lease) {
    const { items } = await this.store.kv.list({ prefix: WORKERS });
    this.killed = items.length;
    if (this.isFinished) return;
    await this.#write(lease, [put(MARK, this.mark), put(WORKERS + lease.owner, Date.now())]);
  }

  /**
   * The worker ends in order.
   * @param {Lease} lease
   */
  async leave(lease) {
    if (!this.isFinished) await this.#write(lease, [del(WORKERS + lease.owner)]);
  }

  /** @param {Lease} lease */
  async finish(lease) {
    if (this.isFinished) return;
    const mark = { ...this.mark, finishedAt: Date.now() };
    await this.#write(lease, [put(MARK, mark), del(WORKERS + lease.owner)]);
    this.mark = mark;
  }

  /** What this run has written so far: entries, the commands in them, bytes on the disk. */
  async written() {
    const path = join(this.#dir, JOURNAL);
    const sizes = (await readdir(path)).map((name) => sizeOf(join(path, name)));
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return { entries: this.#journal.entries, commands: this.store.version, bytes };
  }

  close() {
    return this.store.close();
  }

  /**
   * @param {Lease} lease
   * @param {import('fencepost').Write[]} writes
   */
  async #write(lease, writes) {
    const written = await lease.guardedCommit(writes);
    if (!written.ok) throw new RunFailed(`the lease \`deliver\` is lost: ${written.reason}`);
  }

  /**
   * Whoever waited for another process wants its result, not the same work once more.
   * @param {RunOptions} options
   * @param {boolean} waited
   */
  #isReplaced({ start, note }, waited) {
    if (start === 'fresh') return true;
    if (!this.isFinished || start === 'resume' || waited) return false;
    note('The last run had finished, so a new one begins. (--resume shows it again.)');
    return true;
  }

  /**
   * A run goes on with what it was started with.
   * @param {{ dir: string, requests: string, seed?: number }} options
   */
  requireSame({ dir, requests, seed }) {
    const advice = 'finish it with what it was started with, or start over with --fresh';
    if (this.mark.requests !== requests) {
      throw new UsageError(`${dir} holds a run of other requests: ${advice}`);
    }
    if (seed !== undefined && seed !== this.mark.seed) {
      throw new UsageError(`${dir} holds a run with the seed ${this.mark.seed}: ${advice}`);
    }
  }
}

/**
 * A file that is gone by now was a temporary one.
 * @param {string} path
 */
async function sizeOf(path) {
  const found = await stat(path).catch(() => ({ size: 0 }));
  return found.size;
}

/**
 * The journal goes in one step, however soon this process is killed, and the record goes after it.
 * @param {string} dir
 */
async function discard(dir) {
  await rm(join(dir, DISCARDED), { recursive: true, force: true });
  await rename(join(dir, JOURNAL), join(dir, DISCARDED));
  await rm(join(dir, DISCARDED), { recursive: true });
}

/**
 * Starting over deletes the run, so the directory must be one that only a run has written to.
 * @param {string} dir
 */
async function refuseForeignDirectory(dir) {
  const ours = [JOURNAL, RECORD, DISCARDED];
  const names = await readdir(dir).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`cannot use --dir: ${error.message}`);
  });
  const foreign = names.find((name) => !ours.includes(name));
  if (foreign !== undefined) {
    throw new UsageError(
      `${dir} is not a run's directory: it holds ${foreign}. Choose another --dir`,
    );
  }
}
