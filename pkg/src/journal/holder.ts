/**
 * Who holds a lock, and whether that process still lives.
 *
 * A process is named by host, boot, id and start time, because ids are given out again: after a
 * crash the id of the holder may belong to somebody else, in a container it usually does.
 *
 * Where something cannot be found out (no /proc, no permission) the answer is "alive": a lock that
 * has to be deleted by hand is a nuisance, two writers are a loss. Containers that share a
 * directory must differ in their host names, as they do unless told otherwise.
 */
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from './disk-error.js';

export interface Holder {
  pid: number;
  /** Empty when the runtime does not tell. */
  host: string;
  /** The kernel's name of this boot; empty when it has none. */
  boot: string;
  /** When the process started, in the kernel's ticks; empty when unknown. */
  started: string;
  /** Milliseconds since the Unix epoch, for people. */
  openedAt: number;
}

export function thisProcess(): Holder {
  return {
    pid: process.pid,
    host: orEmpty(hostname),
    boot: bootId(),
    started: processStat(process.pid)?.started ?? '',
    openedAt: Date.now(),
  };
}

/** Whether it is certainly the process that asks. */
export function isThisProcess(holder: Holder): boolean {
  const own = thisProcess();
  const isSame = (['pid', 'host', 'boot', 'started'] as const).every(
    (name) => holder[name] === own[name],
  );
  return isSame && own.host !== '';
}

/** Whether the holder is certainly gone. */
export function isDead(holder: Holder): boolean {
  const own = { host: orEmpty(hostname), boot: bootId() };
  if (holder.host === '' || holder.host !== own.host) return false;
  if (differ(holder.boot, own.boot)) return true;
  const stat = processStat(holder.pid);
  if (stat === null) return !isRunning(holder.pid);
  return stat.ended || differ(holder.started, stat.started);
}

function differ(left: string, right: string): boolean {
  return left !== '' && right !== '' && left !== right;
}

/** Asks the system by signal 0, which is not delivered to anybody. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
    // Deno may not ask without --allow-run. Where /proc can be read, its answer is as good.
    return systemCode(error) === 'EPERM' || processStat(process.pid) === null;
  }
}

/**
 * What Linux says about a process; null where it says nothing. A killed process that nobody has
 * waited for is still listed, and counts as ended when its last thread can no longer write.
 */
function processStat(pid: number): { started: string; ended: boolean } | null {
  const stat = orEmpty(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The second field is the program's name in brackets, and may itself contain blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, started] = [fields[0], fields[17], fields[19]];
  if (state === undefined || threads === undefined || started === undefined) return null;
  return { started, ended: (state === 'Z' || state === 'X') && Number(threads) <= 1 };
}

function bootId(): string {
  return orEmpty(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

function orEmpty(ask: () => string): string {
  try {
    return ask();
  } catch {
    return '';
  }
}
