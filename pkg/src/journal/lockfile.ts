/**
 * An exclusive lock on a directory that a dead holder cannot keep, without timers.
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
 *     ^  lock.<n> is free or dead                              │
 *     └────────────────────────────────────────────────────────┘
 * ```
 *
 * **Invariant**: only the holder of a higher number deletes a lower one.
 *
 * It does not protect from somebody who deletes the files of a living holder; `isHeld` tells the
 * holder afterwards.
 */

import * as fs from 'node:fs';
import { join } from 'node:path';
import { FencepostError, quote } from '../errors.js';
import { host, textEncoder } from '../host.js';
import { systemCode } from './disk-error.js';
import { type Holder, isDead, isThisProcess, thisProcess } from './holder.js';

export interface Lock {
  /** Costs a microsecond. */
  isHeld(): boolean;
  /** Idempotent. */
  release(): void;
}

// The two states are of one length, so that marking a file replaces them in place.
const HELD = '{"state":"held",';
const FREE = '{"state":"free",';

/**
 * @throws FencepostError `JOURNAL_LOCKED` with `details.holder` and `details.path`, when a process
 *   holds it that is not certainly dead
 */
export function acquireLock(directory: string): Lock {
  for (;;) {
    const newest = highestNumber(directory);
    if (newest > 0) requireVacant(numbered(directory, newest));
    const descriptor = claimNumber(directory, newest + 1);
    if (descriptor !== null) return new HeldLock(descriptor);
  }
}

class HeldLock implements Lock {
  #descriptor: number | null;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  isHeld(): boolean {
    return this.#descriptor !== null && fs.fstatSync(this.#descriptor).nlink > 0;
  }

  release(): void {
    if (this.#descriptor === null) return;
    try {
      // Through our own descriptor: the name may by now be somebody else's file.
      fs.writeSync(this.#descriptor, textEncoder().encode(FREE), 0, FREE.length, 0);
    } catch {
      // The mark only hastens things: without it the lock is free when this process ends.
    } finally {
      fs.closeSync(this.#descriptor);
      this.#descriptor = null;
    }
  }
}

/**
 * Takes a number; null when somebody else was first and the caller has to look again. Right only
 * for the number after one that is free or dead; however long ago that was seen.
 */
export function claimNumber(directory: string, number: number): number | null {
  const temporary = join(directory, `lock.tmp-${host('crypto').randomUUID()}`);
  const content = `${HELD}${JSON.stringify(thisProcess()).slice(1)}\n`;
  const descriptor = fs.openSync(temporary, 'wx+');
  let held = false;
  try {
    fs.writeFileSync(descriptor, content);
    // A loss of power must not leave a lock that nobody can read.
    fs.fsyncSync(descriptor);
    held = link(temporary, numbered(directory, number));
    removeIfThere(temporary);
    if (held && highestNumber(directory) > number) {
      removeIfThere(numbered(directory, number));
      held = false;
    }
    if (held) removeBelow(directory, number);
    return held ? descriptor : null;
  } finally {
    if (!held) fs.closeSync(descriptor);
  }
}

function link(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    // ENOENT: a new holder has tidied away what it took for the leftovers of a dead contender.
    if (systemCode(error) === 'EEXIST' || systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function requireVacant(path: string): void {
  const text = readIfThere(path);
  // Gone or replaced since we looked: the numbers have moved on.
  if (text === null || text.startsWith(FREE)) return;
  const holder = parseHolder(text);
  if (holder !== null && isDead(holder)) return;
  throw new FencepostError(
    'JOURNAL_LOCKED',
    `the journal is held by ${described(holder)}; ${remedy(holder, path)}`,
    { details: { path, stored: false, ...(holder && { holder: told(holder) }) } },
  );
}

function remedy(holder: Holder | null, path: string): string {
  if (holder !== null && isThisProcess(holder)) return 'use the store that is open, or close it';
  return `if that process is certainly gone, delete ${quote(path)}`;
}

function told({ pid, host, openedAt }: Holder): Pick<Holder, 'pid' | 'host' | 'openedAt'> {
  return { pid, host, openedAt };
}

function described(holder: Holder | null): string {
  if (holder === null) return 'a holder that cannot be told';
  const { pid, host, openedAt } = holder;
  const self = isThisProcess(holder) ? 'this very ' : '';
  const since = new Date(openedAt).toISOString();
  return `${self}process ${pid} on host ${quote(host)}, since ${since}`;
}

function parseHolder(text: string): Holder | null {
  let value: Partial<Holder>;
  try {
    value = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { pid, host, boot, started, openedAt } = value;
  if (!Number.isSafeInteger(pid) || Number.isNaN(new Date(openedAt ?? '').getTime())) return null;
  if ([host, boot, started].some((field) => typeof field !== 'string')) return null;
  return value as Holder;
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

function removeBelow(directory: string, number: number): void {
  for (const lower of numbersIn(directory)) {
    if (lower < number) removeIfThere(numbered(directory, lower));
  }
  for (const name of fs.readdirSync(directory)) {
    if (name.startsWith('lock.tmp-')) removeIfThere(join(directory, name));
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
