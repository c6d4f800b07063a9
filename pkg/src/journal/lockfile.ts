/**
 * An exclusive lock on a directory that a dead holder cannot keep, and a living one cannot lose.
 *
 * The lock is a row of files `lock.<number>`; whoever owns the highest number holds it. A file
 * comes into being with its content, by linking a written file to the next number, which the system
 * allows once. It is never deleted by its owner: releasing marks it `free`, so numbers only rise,
 * and a contender that slept for a while between looking and linking finds a higher number and
 * steps back.
 *
 * ```text
 *            link lock.<n+1>                    mark
 *   nobody ─────────────────────> held by us ─────────> free ──┐
 *     ^  lock.<n> is free, or its holder is known to be dead   │
 *     └────────────────────────────────────────────────────────┘
 * ```
 *
 * Whether a holder is dead is felt at its lifeline, which is in place before the number is taken,
 * and which only the kernel can let go while the number is held. Where that says nothing, or
 * speaks of another kernel, the description in the file decides, and rather says "alive".
 *
 * **Why two never hold it.** A number that is free or dead stays so: nobody holds a number twice,
 * and a lifeline's name is used once. So however late a contender links n+1, its ground to do so
 * still stands; what may have changed is that n+1 was taken meanwhile (linking fails), or was taken
 * and deleted (then a higher number is there, since the highest is never deleted, and it steps
 * back before it does anything else). Two takers of one dead lock link the same number: one wins.
 *
 * **Invariant**: only the holder of a higher number deletes a lower one, and the leftovers of
 * contenders. One that is still trying then links nothing, or sees the higher number.
 *
 * It does not protect from somebody who deletes the files of a living holder, or takes over by
 * force; `isHeld` tells the holder afterwards, at the latest before it acknowledges anything.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { host, textEncoder } from '../host.js';
import { systemCode } from './disk-error.js';
import { isDead, isOurKernels, isRunning, isThisProcess, thisProcess } from './holder.js';
import { feel, type Lifeline, makeLifeline } from './lifeline.js';
import { encodeMark, FREE, type Mark, parseMark, SINCE_AT, sinceField } from './lock-mark.js';
import { type Found, locked } from './locked.js';

export interface LockOptions {
  /** How long to wait for another holder, in milliseconds; may be infinite. */
  readonly wait: number;
  /** Takes it from whoever holds it. */
  readonly force: boolean;
}

export interface Lock {
  /** Costs a microsecond. */
  isHeld(): boolean;
  /** Idempotent. */
  release(): void;
  /**
   * Whether the holder before may still have a write under way: it was taken over by force, or a
   * thread of a process that goes on.
   */
  readonly mustFence: boolean;
  /** What a holder that is known to be dead has noted last, and nobody has dealt with. */
  readonly since: number | null;
  /** Notes it for whoever finds this holder dead; what was noted before is dealt with. */
  note(since: number): void;
}

const POLL_MS = 100;
const AGAIN_MS = 5;

/** The lifelines of this thread. */
const own = new Set<string>();

/**
 * @throws FencepostError `JOURNAL_LOCKED` with `details.holder` and `details.path`, when a holder
 *   has it that is not known to be dead
 */
export async function acquireLock(directory: string, options: LockOptions): Promise<Lock> {
  const end = elapsed() + options.wait;
  for (;;) {
    const newest = highestNumber(directory);
    const found = newest === 0 ? NOBODY : await look(directory, newest);
    const left = end - elapsed();
    if (found === null) continue;
    if (found.isHeld && !options.force) {
      if (left <= 0) found.letGo();
      if (left <= 0) throw locked(found);
      await ending(found, left);
      continue;
    }
    found.letGo();
    const lock = await claimNumber(directory, newest + 1, found);
    if (lock !== null) return lock;
  }
}

class HeldLock implements Lock {
  readonly mustFence: boolean;
  readonly since: number | null;
  readonly #lifeline: Lifeline | null;
  readonly #path: string;
  /** Some file systems count no links; there the name has to be looked up. */
  readonly #countsLinks: boolean;
  #descriptor: number | null;
  #isNoted = false;

  constructor(path: string, descriptor: number, lifeline: Lifeline | null, before: Before) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#lifeline = lifeline;
    this.#countsLinks = fs.fstatSync(descriptor).nlink > 0;
    this.mustFence = before.mustFence;
    this.since = before.since;
    if (lifeline !== null) own.add(lifeline.name);
  }

  isHeld(): boolean {
    if (this.#descriptor === null) return false;
    const { nlink, ino } = fs.fstatSync(this.#descriptor);
    if (this.#countsLinks) return nlink > 0;
    return fs.statSync(this.#path, { throwIfNoEntry: false })?.ino === ino;
  }

  note(since: number): void {
    if (this.#descriptor === null) return;
    // Through our own descriptor: the name may by now be somebody else's file.
    writeAt(this.#descriptor, sinceField(since), SINCE_AT);
    this.#isNoted = true;
  }

  release(): void {
    if (this.#descriptor === null) return;
    try {
      // What the holder before this one owed is dealt with, or is still to be done by the next.
      const mark = this.#isNoted ? FREE + sinceField(null) : FREE;
      writeAt(this.#descriptor, mark, 0);
    } catch {
      // The mark only hastens things: without it the lock is free when this process ends.
    } finally {
      fs.closeSync(this.#descriptor);
      this.#descriptor = null;
      // Whoever waits at it has to find the mark.
      this.#lifeline?.end();
      if (this.#lifeline !== null) own.delete(this.#lifeline.name);
    }
  }
}

/** What the holder before leaves to the next one. */
type Before = Pick<Lock, 'mustFence' | 'since'>;

interface Looked extends Found, Before {
  readonly isHeld: boolean;
  readonly ended?: Promise<void>;
  letGo(): void;
}

const NOBODY: Looked = {
  isHeld: false,
  mark: null,
  path: '',
  isOwn: false,
  mustFence: false,
  since: null,
  letGo: () => undefined,
};

/** Null when the numbers have moved on. */
async function look(directory: string, number: number): Promise<Looked | null> {
  const path = numbered(directory, number);
  const text = readIfThere(path);
  if (text === null) return null;
  const mark = parseMark(text);
  if (text.startsWith(FREE)) return { ...NOBODY, since: mark?.since ?? null };
  if (mark === null) return { ...NOBODY, path, isHeld: true, mustFence: true };
  const { lifeline } = mark;
  const isOwn = (lifeline !== undefined && own.has(lifeline.name)) || isThisProcess(mark);
  const line = lifeline === undefined ? null : await feel(directory, lifeline);
  const isGone = line?.sign === 'gone' && isOurKernels(mark, directory) && !mayBeBusy(mark, isOwn);
  const isOver = isDead(mark);
  const isHeld = line?.sign === 'here' || !(isGone || isOver);
  return {
    isHeld,
    mark,
    path,
    isOwn,
    mustFence: !isOver,
    since: isHeld ? null : mark.since,
    ...(line?.ended && { ended: line.ended }),
    letGo: () => line?.letGo(),
  };
}

/** Elsewhere than on Linux a socket refuses as well when too many wait for a maker that is busy. */
function mayBeBusy({ lifeline, platform, pid }: Mark, isOwn: boolean): boolean {
  if (lifeline?.kind !== 'socket' || platform === 'linux' || isOwn) return false;
  return isRunning(pid);
}

/** In milliseconds; no clock that is set changes it. */
function elapsed(): number {
  return process.uptime() * 1_000;
}

/** Waits until it is worth looking again. */
async function ending(found: Looked, left: number): Promise<void> {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  if (found.ended === undefined) return pause(Math.min(left, POLL_MS));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    if (Number.isFinite(left)) timer = setTimeout(resolve, left);
  });
  await Promise.race([found.ended, late]);
  clearTimeout(timer);
  found.letGo();
  // A holder that hangs up although it lives is not called again at once.
  await pause(Math.min(left, AGAIN_MS));
}

/**
 * Takes a number; null when somebody else was first and the caller has to look again. Right only
 * for the number after one that is free or dead; however long ago that was seen.
 */
export async function claimNumber(
  directory: string,
  number: number,
  before: Before = NOBODY,
): Promise<Lock | null> {
  const lifeline = await makeLifeline(directory);
  let descriptor: number | null = null;
  let lock: Lock | null = null;
  try {
    const content = encodeMark({ ...thisProcess(directory), since: before.since }, lifeline);
    descriptor = place(directory, number, content);
    if (descriptor === null) return null;
    if (highestNumber(directory) > number) {
      removeIfThere(numbered(directory, number));
      return null;
    }
    removeBelow(directory, number, lifeline?.name);
    lock = new HeldLock(numbered(directory, number), descriptor, lifeline, before);
    return lock;
  } finally {
    if (lock === null) {
      if (descriptor !== null) fs.closeSync(descriptor);
      lifeline?.end();
    }
  }
}

/** Makes the file of a number with its content; null when the number is taken. */
function place(directory: string, number: number, content: string): number | null {
  const path = numbered(directory, number);
  const temporary = join(directory, `lock.tmp-${host('crypto').randomUUID()}`);
  const descriptor = create(temporary, content);
  try {
    fs.linkSync(temporary, path);
    return descriptor;
  } catch (error) {
    fs.closeSync(descriptor);
    // ENOENT: a new holder has tidied away what it took for the leftovers of a dead contender.
    if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOENT') return null;
  } finally {
    removeIfThere(temporary);
  }
  // No hard links here (Android, exFAT, some shared folders), or a real failure, which will show.
  // A file that is not written yet counts as held.
  try {
    return create(path, content);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return null;
    throw error;
  }
}

const { O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = fs.constants;

/** A new file, whole and durable: a loss of power must not leave a lock that nobody can read. */
function create(path: string, content: string): number {
  const descriptor = fs.openSync(path, O_RDWR | O_CREAT | O_EXCL | (O_DSYNC ?? 0), 0o600);
  try {
    fs.writeFileSync(descriptor, content);
    if (O_DSYNC === undefined) fs.fsyncSync(descriptor);
    return descriptor;
  } catch (error) {
    fs.closeSync(descriptor);
    removeIfThere(path);
    throw error;
  }
}

function writeAt(descriptor: number, text: string, position: number): void {
  fs.writeSync(descriptor, textEncoder().encode(text), 0, text.length, position);
}

function highestNumber(directory: string): number {
  return Math.max(0, ...numbersIn(directory));
}

function numbersIn(directory: string): number[] {
  return fs.readdirSync(directory).flatMap((name) => {
    const digits = /^lock\.([1-9][0-9]{0,14})$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function removeBelow(directory: string, number: number, lifeline: string | undefined): void {
  for (const lower of numbersIn(directory)) {
    if (lower < number) removeIfThere(numbered(directory, lower));
  }
  for (const name of fs.readdirSync(directory)) {
    if (/^lock\.(tmp|live)-/.test(name) && name !== lifeline) removeIfThere(join(directory, name));
  }
}

function numbered(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

function readIfThere(path: string): string | null {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function removeIfThere(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
