/** Where the file journal of a store lives when nobody said otherwise. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { textEncoder } from '../host.js';

const ENCODED_CHARS_MAX = 200;

/**
 * `.fencepost/<name>`, relative to the working directory. The name is percent-encoded so that it is
 * exactly one path segment on every file system; one that gets too long for that is cut, and a hash
 * of the whole name follows after a `~`, which no encoded name contains.
 */
export function defaultPath(name: string): string {
  const encoded = encodeSegment(name);
  if (encoded.length <= ENCODED_CHARS_MAX) return join('.fencepost', encoded);
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return join('.fencepost', `${encoded.slice(0, ENCODED_CHARS_MAX / 2)}~${hash}`);
}

/** No dot at either end: `.` and `..` are directories, and Windows drops a last one. */
function encodeSegment(name: string): string {
  let encoded = '';
  for (const byte of textEncoder().encode(name)) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9._-]/.test(character) ? character : percent(byte);
  }
  return encoded.replace(/^\.|\.$/g, percent(0x2e));
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
