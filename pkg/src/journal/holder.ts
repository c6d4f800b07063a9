/**
 * Who holds a lock, described: for messages, and for where nothing better is to be had.
 *
 * **Invariant**: a process is called dead only when it is known to be. A process id means something
 * in one PID namespace of one boot; seen from anywhere else the holder is alive, as far as is
 * known. A lock that has to be deleted by hand is a nuisance, two writers are a loss.
 */
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { isGranted } from './deno.js';
import { systemCode } from './disk-error.js';

export interface Holder {
  pid: number;
  /** `linux`, `darwin`, … */
  platform: string;
  /** Empty when the runtime does not tell. */
  host: string;
  /** The kernel's name of this boot; empty when it has none. */
  boot: string;
  /** Of the process ids; empty when there is but one, or it is not told. */
  namespace: string;
  /** When the process started, in the kernel's ticks; empty when unknown. */
  started: string;
  /** Whether no other kernel can have the directory open meanwhile, as seen by the holder. */
  local: boolean;
  /** Milliseconds since the Unix epoch, for people. */
  openedAt: number;
}

export function thisProcess(directory: string): Holder {
  return {
    pid: process.pid,
    platform: process.platform,
    host: hostName(),
    boot: bootId(),
    namespace: pidNamespace(),
    started: processStat(process.pid)?.started ?? '',
    local: isLocal(directory),
    openedAt: Date.now(),
  };
}

/** Whether it is certainly the process that asks. Another of its threads is the same process. */
export function isThisProcess(holder: Holder): boolean {
  if (holder.pid !== process.pid || !isOneScope(holder)) return false;
  return !differ(holder.started, processStat(process.pid)?.started ?? '');
}

/** Whether the whole process is certainly gone, and with it every write it had begun. */
export function isDead(holder: Holder): boolean {
  if (!isOneScope(holder)) return false;
  const stat = processStat(holder.pid);
  if (stat === null) return !isRunning(holder.pid);
  return stat.ended || differ(holder.started, stat.started);
}

/**
 * Whether what our kernel says of the holder's lifeline is the truth: no other kernel could have
 * it. On a volume that machines share ours knows nothing of the others'.
 */
export function isOurKernels(holder: Holder, directory: string): boolean {
  if (holder.boot !== '' && holder.boot === bootId()) return true;
  return holder.local && isLocal(directory);
}

/** Whether the holder's process id means the same here as it did there. */
function isOneScope({ platform, boot, namespace, host }: Holder): boolean {
  if (platform !== process.platform || boot !== bootId()) return false;
  if (boot !== '') return namespace !== '' && namespace === pidNamespace();
  // Systems without such names have no such namespaces either; there the host's has to do.
  return platform !== 'linux' && host !== '' && host === hostName();
}

function differ(left: string, right: string): boolean {
  return left !== '' && right !== '' && left !== right;
}

/** Asks the system by signal 0, which is not delivered to anybody. */
export function isRunning(pid: number): boolean {
  // Where /proc can be read, its silence is as good an answer.
  if (!isGranted({ name: 'run' })) return processStat(process.pid) === null;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/**
 * What Linux says about a process; null where it says nothing. A killed process that nobody has
 * waited for is still listed, and counts as ended when its last thread can no longer write.
 */
function processStat(pid: number): { started: string; ended: boolean } | null {
  // The trap: a /proc that was mounted in another namespace tells of other processes.
  if (ask(() => fs.readlinkSync('/proc/self'), '/proc/self') !== String(process.pid)) return null;
  const stat = textOf(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets, and may itself contain blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, started] = [fields[0], fields[17], fields[19]];
  if (state === undefined || threads === undefined || started === undefined) return null;
  return { started, ended: (state === 'Z' || state === 'X') && Number(threads) <= 1 };
}

const bootId = once(() => textOf('/proc/sys/kernel/random/boot_id').trim());
const pidNamespace = once(() => ask(() => fs.readlinkSync(NAMESPACE), NAMESPACE));
const NAMESPACE = '/proc/self/ns/pid';

function hostName(): string {
  return isGranted({ name: 'sys', kind: 'hostname' }) ? orEmpty(hostname) : '';
}

/** What `statfs` calls file systems that one kernel has for itself, and that have no device. */
const LOCAL = new Set([0x01021994, 0x794c7630, 0x9123683e, 0x2fc12fc1, 0x858458f6, 0xca451a4e]);
/** Those that several kernels may mount from one device: GFS2, OCFS2. */
const CLUSTERED = new Set([0x01161970, 0x7461636f]);

/** Whether the directory is in a file system that one kernel at a time can mount. */
function isLocal(directory: string): boolean {
  try {
    const { dev } = fs.statSync(directory);
    if (process.platform === 'win32') {
      return !fs.realpathSync.native(directory).startsWith('\\\\');
    }
    // On macOS: the volume that the machine itself writes to.
    if (process.platform === 'darwin') return dev === fs.statSync('/private/var').dev;
    if (process.platform !== 'linux' && process.platform !== 'android') return false;
    const type = isGranted({ name: 'sys', kind: 'statfs' }) ? fs.statfsSync(directory).type : 0;
    // What comes over a wire or from a host has no device of its own: its major number is 0.
    const major = Math.floor(dev / 256) & 0xfff;
    return major === 0 ? LOCAL.has(type) : !CLUSTERED.has(type);
  } catch {
    return false;
  }
}

function textOf(path: string): string {
  return ask(() => fs.readFileSync(path, 'utf8'), path);
}

function ask(read: () => string, path: string): string {
  return isGranted({ name: 'read', path }) ? orEmpty(read) : '';
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function once(find: () => string): () => string {
  let found: string | undefined;
  return () => {
    found ??= find();
    return found;
  };
}
