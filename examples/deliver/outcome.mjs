// @ts-check
/** What the store knows of a run: receipts of delivered requests, dead tasks for the others. */
import { RECEIPTS } from './deliver.mjs';

/** @typedef {{ token: number, attempt: number, status: number }} Receipt */
/** @typedef {{ attempt: number, cause: string }} Death */
/**
 * @typedef {object} Outcome both by the request's id
 * @property {Map<string, Receipt>} delivered
 * @property {Map<string, Death>} dead
 */

/**
 * @param {import('fencepost').Store} store
 * @param {import('./deliver.mjs').Work['queue']} queue
 * @returns {Promise<Outcome>}
 */
export async function readOutcome(store, queue) {
  /** @type {Outcome} */
  const outcome = { delivered: new Map(), dead: new Map() };
  const receipts = everyPage((cursor) => store.kv.list({ prefix: RECEIPTS, cursor }));
  for await (const { key, value } of receipts) {
    outcome.delivered.set(key.slice(RECEIPTS.length), /** @type {Receipt} */ (value));
  }
  const dead = everyPage((cursor) => queue.list({ state: 'dead', cursor }));
  for await (const { key, attempt, lastError } of dead) {
    outcome.dead.set(String(key), { attempt, cause: String(lastError) });
  }
  return outcome;
}

/**
 * @template T
 * @param {(cursor: string | undefined) => Promise<import('fencepost').Page<T>>} read
 */
async function* everyPage(read) {
  /** @type {string | undefined} */
  let cursor;
  do {
    const page = await read(cursor);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
