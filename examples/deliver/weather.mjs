// @ts-check
/**
 * The bad network: what becomes of a request, as a pure function of the seed, the request's id and
 * how many times the server has seen it. So a run can be repeated, and a restart changes nothing.
 *
 * **Invariant:** from its sixth attempt on, a request that is not refused for good gets through.
 */
import { createHash } from 'node:crypto';

/**
 * @typedef {object} Answer
 * @property {'delivered' | 'refused' | 'failed' | 'busy' | 'dropped' | 'answer lost'} outcome
 * @property {number} status HTTP status; 0 closes the connection without an answer
 * @property {string} text
 * @property {boolean} applies whether the request takes effect
 * @property {[number, number]} wait_ms the answer takes this long, drawn evenly
 * @property {number} [retryAfter_s] for the header `Retry-After`
 */

const BAD_ATTEMPTS_MAX = 5;
const QUICK_MS = /** @type {[number, number]} */ ([15, 90]);

/** @type {Answer} */
const CLEAR = outcome('delivered', 200, 'delivered');

/**
 * What may happen to an attempt, with its share of all attempts; the rest is clear.
 * @type {[number, Answer][]}
 */
const WEATHER = [
  [0.05, outcome('failed', 500, 'internal error')],
  [0.04, outcome('failed', 502, 'bad gateway')],
  [0.05, outcome('failed', 503, 'service unavailable')],
  [0.07, { ...outcome('busy', 429, 'too many requests'), retryAfter_s: 1 }],
  [0.05, outcome('dropped', 0, 'connection dropped before the request took effect')],
  [0.04, outcome('answer lost', 0, 'connection dropped after the request took effect')],
  [0.12, { ...CLEAR, wait_ms: [300, 1200] }],
  // Longer than a claim lasts: only heartbeats carry these through.
  [0.015, { ...CLEAR, wait_ms: [2500, 4000] }],
];

/**
 * Answers that will be the same however often one asks, with their share of all requests.
 * @type {[number, Answer][]}
 */
const REFUSALS = [
  [0.015, outcome('refused', 400, 'malformed body')],
  [0.01, outcome('refused', 404, 'no such endpoint')],
  [0.01, outcome('refused', 410, 'subscription ended')],
  [0.015, outcome('refused', 422, 'unknown customer')],
];

/**
 * @param {number} seed
 * @param {string} id of the request
 * @param {number} attempt how many times the server has seen it, this time included
 * @returns {Answer & { delay_ms: number }}
 */
export function forecast(seed, id, attempt) {
  const stormy = attempt <= BAD_ATTEMPTS_MAX;
  const answer =
    pick(REFUSALS, draw(seed, id)) ??
    (stormy ? pick(WEATHER, draw(seed, id, attempt)) : undefined) ??
    CLEAR;
  const [shortest, longest] = answer.wait_ms;
  const delay_ms = shortest + (longest - shortest) * draw(seed, id, attempt, 'delay');
  return { ...answer, delay_ms: Math.round(delay_ms) };
}

/**
 * @param {Answer['outcome']} name
 * @param {number} status
 * @param {string} text
 * @returns {Answer}
 */
function outcome(name, status, text) {
  const applies = name === 'delivered' || name === 'answer lost';
  return { outcome: name, status, text, applies, wait_ms: QUICK_MS };
}

/**
 * @param {[number, Answer][]} choices
 * @param {number} drawn in [0, 1)
 */
function pick(choices, drawn) {
  let reached = 0;
  for (const [share, answer] of choices) {
    reached += share;
    if (drawn < reached) return answer;
  }
  return undefined;
}

/**
 * An even number in [0, 1), the same for the same words.
 * @param {...(string | number)} words
 */
function draw(...words) {
  const digest = createHash('sha256').update(JSON.stringify(words)).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
