/**
 * What a child says to its parent.
 *
 * The trap: `process.stdout` keeps in memory what the pipe has no room for, and a parent that is
 * busy leaves little: whoever is killed takes those lines along. This waits for room instead.
 */
import { writeSync } from 'node:fs';
import { systemCode } from '../../../pkg/dist/journal/disk-error.js';

const STDOUT = 1;
const PAUSE_MS = 1;

const never = new Int32Array(new SharedArrayBuffer(4));

/** The line is with the parent when this returns, whatever becomes of this process. */
export function say(line: string | number): void {
  const bytes = Buffer.from(`${line}\n`);
  for (let said = 0; said < bytes.byteLength; ) said += sayPart(bytes.subarray(said));
}

function sayPart(bytes: Uint8Array): number {
  try {
    return writeSync(STDOUT, bytes);
  } catch (error) {
    if (systemCode(error) !== 'EAGAIN') throw error;
    Atomics.wait(never, 0, 0, PAUSE_MS);
    return 0;
  }
}
