/** What Deno alone has, and what it would rather ask its user about. */

export interface DenoFile {
  /** An OS lock (`flock`) on the open file; false when another open file has one against it. */
  tryLockSync?(exclusive: boolean): boolean;
  close(): void;
}

interface Deno {
  openSync(
    path: string,
    options: { read?: boolean; write?: boolean; createNew?: boolean; mode?: number },
  ): DenoFile;
  permissions: { querySync(permission: Permission): { state: string } };
}

type Permission =
  | { name: 'sys'; kind: 'hostname' | 'statfs' }
  | { name: 'read'; path: string }
  | { name: 'net' | 'run' };

/** Undefined in every other runtime. */
export const deno = (globalThis as { Deno?: Deno }).Deno;

/** Whether the system may be asked without a question to the user first. */
export function isGranted(permission: Permission): boolean {
  if (deno === undefined) return true;
  try {
    return deno.permissions.querySync(permission).state === 'granted';
  } catch {
    return false;
  }
}
