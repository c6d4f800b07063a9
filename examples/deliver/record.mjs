// @ts-check
/**
 * The server's own record: one JSON line for each request it has seen, in the order it saw them.
 * It is the server's memory over restarts, and what the run is checked against in the end.
 *
 * **Invariant:** a line is on the disk before its request is answered. A last line without its end
 * was cut off by a crash and never answered for: readers leave it out, the next writer removes it.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/**
 * @typedef {object} RecordLine
 * @property {number} at when it was seen, milliseconds since the epoch
 * @property {string} id of the request
 * @property {number} token the fencing token it came under
 * @property {number} attempt how many times the server has seen this id, this time included
 * @property {string} content digest of method, path and body
 * @property {string} outcome
 * @property {number} status as answered; 0 when the connection was dropped
 * @property {boolean} applied whether it took effect, this time
 */

/**
 * @param {string} path
 * @returns {RecordLine[]} none when there is no record yet
 */
export function readRecord(path) {
  return whole(path)
    .split('\n')
    .slice(0, -1)
    .map((text, index) => {
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new Error(`${path}, line ${index + 1} is damaged: ${text.slice(0, 60)}`, { cause });
      }
    });
}

export class RecordWriter {
  #file;

  /** @param {string} path */
  constructor(path) {
    const text = whole(path);
    this.#file = openSync(path, 'a');
    truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
  }

  /** @param {RecordLine} line */
  append(line) {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
    fdatasyncSync(this.#file);
  }

  close() {
    closeSync(this.#file);
  }
}

/** @param {string} path */
function whole(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return '';
    throw error;
  }
}
