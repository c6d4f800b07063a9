// @ts-check
/**
 * The receiving side that makes at-least-once delivery safe. It refuses a fencing token lower than
 * the newest it has seen for that id, and applies an id once however often it comes.
 */
import { createHash } from 'node:crypto';
import { forecast } from './weather.mjs';

/** @typedef {import('./record.mjs').RecordLine} RecordLine */
/** @typedef {{ attempts: number, newest: number, applied: boolean }} Seen */
/**
 * @typedef {object} Received
 * @property {RecordLine} line for the record
 * @property {string} text for the answer's body
 * @property {number} delay_ms
 * @property {number} [retryAfter_s]
 */

export class Receiver {
  #seed;
  /** @type {Map<string, Seen>} */
  #seen = new Map();

  /**
   * @param {number} seed of the weather
   * @param {RecordLine[]} record what was seen before this start
   */
  constructor(seed, record) {
    this.#seed = seed;
    for (const line of record) this.#remember(line);
  }

  /**
   * @param {{ id: string, token: number, content: string }} request
   * @returns {Received}
   */
  receive({ id, token, content }) {
    const before = this.#seen.get(id) ?? { attempts: 0, newest: 0, applied: false };
    const attempt = before.attempts + 1;
    const answer = known(before, token) ?? forecast(this.#seed, id, attempt);
    const { outcome, status, applies: applied } = answer;
    const line = { at: Date.now(), id, token, attempt, content, outcome, status, applied };
    this.#remember(line);
    return {
      line,
      text: answer.text,
      delay_ms: answer.delay_ms,
      retryAfter_s: answer.retryAfter_s,
    };
  }

  /** @param {RecordLine} line */
  #remember({ id, token, applied }) {
    const before = this.#seen.get(id);
    this.#seen.set(id, {
      attempts: (before?.attempts ?? 0) + 1,
      newest: Math.max(before?.newest ?? 0, token),
      applied: (before?.applied ?? false) || applied,
    });
  }
}

/**
 * The answer that follows from what was seen before; none for a request that is news.
 * @param {Seen} before
 * @param {number} token
 */
function known({ newest, applied }, token) {
  const quiet = { applies: false, delay_ms: 0, retryAfter_s: undefined };
  if (token < newest) {
    return { ...quiet, outcome: 'fenced', status: 409, text: 'a newer token was seen' };
  }
  if (applied) return { ...quiet, outcome: 'repeated', status: 200, text: 'already delivered' };
  return undefined;
}

/**
 * What was asked for, in short: the record keeps it to show that each request arrived unchanged.
 * @param {string} method
 * @param {string} path
 * @param {string} body
 */
export function contentOf(method, path, body) {
  return createHash('sha256').update(`${method} ${path}\n${body}`).digest('base64url').slice(0, 16);
}
