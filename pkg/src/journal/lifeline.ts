/**
 * A lifeline: something that the kernel itself lets go when the thread or process that made it
 * ends, however it ends, and that everybody who sees the directory can feel.
 *
 * - `socket`: a Unix socket in the directory on which its maker listens. It is found through the
 *   file system, so PID and network namespaces do not matter. Node and Bun.
 * - `flock`: a file in the directory on which its maker has an OS lock. Deno, which asks its user
 *   for no further permission then.
 * - `pipe`: a named pipe of Windows.
 *
 * **Invariant**: a name is random and used once, so whatever is gone stays gone.
 *
 * It answers for this kernel only: on a volume that machines share a socket whose maker lives on
 * another one looks abandoned. Whoever asks has to know that (`isOurKernels`).
 */
import * as fs from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { host } from '../host.js';
import { type DenoFile, deno, isGranted } from './deno.js';
import { systemCode } from './disk-error.js';

export interface Line {
  readonly kind: 'socket' | 'flock' | 'pipe';
  /** In the directory; the pipe's name. */
  readonly name: string;
}

export interface Lifeline extends Line {
  end(): void;
}

export interface Felt {
  /** `unknown`: it is missing, or may not be asked. */
  readonly sign: 'here' | 'gone' | 'unknown';
  /** Resolves when the maker ends, where one is told. */
  readonly ended?: Promise<void>;
  letGo(): void;
}

// The shortest that a system takes: macOS has 104 bytes, the last of which is 0.
const ADDRESS_BYTES_MAX = 103;

/** Null where the file system or the runtime has no such thing, or does not permit it. */
export async function makeLifeline(directory: string): Promise<Lifeline | null> {
  const id = shortId();
  try {
    if (deno !== undefined) return lockFile(directory, `lock.live-${id}`);
    if (process.platform === 'win32') return await listenOnPipe(`fencepost-${id}`);
    return await listenInDirectory(directory, id);
  } catch {
    return null;
  }
}

export async function feel(directory: string, line: Line): Promise<Felt> {
  try {
    if (line.kind === 'flock') return feelLock(join(directory, line.name));
    // Deno would ask its user.
    if (!isGranted({ name: 'net' })) return felt('unknown');
    if (line.kind === 'pipe') return await call(pipePath(line.name), 'ENOENT');
    return await atShortPath(directory, line.name, (path) => call(path, 'ECONNREFUSED'));
  } catch {
    return felt('unknown');
  }
}

async function listenInDirectory(directory: string, id: string): Promise<Lifeline> {
  // The trap: whoever closes the socket deletes the name that it was bound to, and a terminated
  // thread closes it. It has to stay, to be found abandoned, so it is given another one.
  const bound = `lock.tmp-${id}`;
  const name = `lock.live-${id}`;
  const hangUp = await atShortPath(directory, bound, listen);
  try {
    fs.chmodSync(join(directory, bound), 0o600);
    fs.renameSync(join(directory, bound), join(directory, name));
  } catch (error) {
    hangUp();
    throw error;
  }
  const end = () => {
    hangUp();
    fs.rmSync(join(directory, name), { force: true });
  };
  return { kind: 'socket', name, end };
}

async function listenOnPipe(name: string): Promise<Lifeline> {
  return { kind: 'pipe', name, end: await listen(pipePath(name)) };
}

function pipePath(name: string): string {
  return `\\\\.\\pipe\\${name}`;
}

/** Answers the way to stop. Who calls is kept until then, and told nothing. */
function listen(path: string): Promise<() => void> {
  const callers = new Set<Socket>();
  const server = createServer((caller) => {
    callers.add(caller);
    caller.unref();
    caller.on('error', () => undefined);
    caller.on('close', () => callers.delete(caller));
    caller.resume();
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    // Exclusive: a cluster's primary would otherwise listen in our place, and outlive us.
    server.listen({ path, exclusive: true }, () => {
      server.unref();
      resolve(() => {
        server.close();
        for (const caller of callers) caller.destroy();
      });
    });
  });
}

function call(path: string, abandoned: string): Promise<Felt> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const ended = new Promise<void>((settle) => socket.once('close', () => settle()));
    socket.once('connect', () => {
      socket.resume();
      resolve({ sign: 'here', ended, letGo: () => socket.destroy() });
    });
    socket.on('error', (error) => {
      resolve(felt(systemCode(error) === abandoned ? 'gone' : 'unknown'));
    });
  });
}

function lockFile(directory: string, name: string): Lifeline | null {
  const path = join(directory, name);
  const file = deno?.openSync(path, { read: true, write: true, createNew: true, mode: 0o600 });
  if (file?.tryLockSync?.(true) === true) {
    return { kind: 'flock', name, end: () => end(file, path) };
  }
  if (file !== undefined) end(file, path);
  return null;
}

function end(file: DenoFile, path: string): void {
  file.close();
  fs.rmSync(path, { force: true });
}

function feelLock(path: string): Felt {
  const file = deno?.openSync(path, { read: true });
  try {
    // Shared, so that several who ask at once do not take each other for the maker.
    const isFree = file?.tryLockSync?.(false);
    return felt(isFree === undefined ? 'unknown' : isFree ? 'gone' : 'here');
  } finally {
    file?.close();
  }
}

function felt(sign: Felt['sign']): Felt {
  return { sign, letGo: () => undefined };
}

/** The address of a socket is short; a directory's path need not be. */
async function atShortPath<T>(
  directory: string,
  name: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const direct = [join(directory, name), join(relative(process.cwd(), directory), name)];
  for (const path of direct) if (fits(path)) return use(path);
  const alias = join(tmpdir(), `fencepost-${shortId()}`);
  const path = join(alias, name);
  if (!fits(path)) throw new Error('no path to the directory is short enough');
  fs.symlinkSync(directory, alias);
  try {
    return await use(path);
  } finally {
    fs.unlinkSync(alias);
  }
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= ADDRESS_BYTES_MAX;
}

function shortId(): string {
  return host('crypto').randomUUID().slice(-12);
}
