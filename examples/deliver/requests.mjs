// @ts-check
/** The recorded requests: a file of JSON lines, each with an id of its own. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UsageError } from './failures.mjs';

/**
 * What a task carries.
 * @typedef {object} Delivery
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {unknown} [body] sent as JSON
 */
/** @typedef {Delivery & { id: string }} RecordedRequest */

/**
 * @param {string} path
 * @returns {{ requests: RecordedRequest[], digest: string }} the digest tells lists apart
 */
export function readRequests(path) {
  const text = readText(path);
  /** @type {Map<string, RecordedRequest>} */
  const requests = new Map();
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const request = parse(line, `${path}, line ${index + 1}`);
    if (requests.has(request.id)) {
      throw new UsageError(`${path}, line ${index + 1}: the id ${request.id} is there twice`);
    }
    requests.set(request.id, request);
  });
  if (requests.size === 0) throw new UsageError(`${path} holds no requests`);
  const digest = createHash('sha256').update(text).digest('hex');
  return { requests: [...requests.values()], digest };
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read the requests: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string} line
 * @param {string} place
 * @returns {RecordedRequest}
 */
function parse(line, place) {
  let request;
  try {
    request = JSON.parse(line);
  } catch {
    throw new UsageError(`${place}: not JSON: ${line.slice(0, 60)}`);
  }
  for (const field of ['id', 'method', 'path']) {
    if (typeof request?.[field] !== 'string' || request[field] === '') {
      throw new UsageError(`${place}: \`${field}\` must be a text that is not empty`);
    }
  }
  return { ...request, headers: request.headers ?? {} };
}
