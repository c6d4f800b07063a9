/** Fills a store until there is no room, and looks at what is there afterwards. */
import { theStore } from './work.js';

const QUEUE = 'batches';
const PAGE = 1_000;
/** What the platform draws at once. */
const DRAWN_BYTES_MAX = 65_536;

/** Text that no browser can compress by much. */
function noise(length) {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += DRAWN_BYTES_MAX) {
    crypto.getRandomValues(bytes.subarray(at, at + DRAWN_BYTES_MAX));
  }
  return Array.from(bytes, (byte) => String.fromCharCode(0x30 + (byte & 63))).join('');
}

/**
 * Enqueues batches of `size` tasks of `bytes` bytes, each batch in one commit, until `refusals` of
 * them were refused. Answers for each `ok`, or the code of its error.
 */
export async function enqueueUntilRefused({ bytes, size, refusals }) {
  const queue = theStore().queue(QUEUE);
  const outcomes = [];
  let left = refusals;
  while (left > 0) {
    const batch = outcomes.length;
    const items = Array.from({ length: size }, () => ({ payload: { batch, text: noise(bytes) } }));
    const outcome = await queue.enqueueMany(items).then(
      () => 'ok',
      ({ code }) => code,
    );
    outcomes.push(outcome);
    if (outcome !== 'ok') left -= 1;
  }
  return outcomes;
}

/** How many tasks of each batch there are, and whether all indexes are well. */
export async function batchesThere() {
  const queue = theStore().queue(QUEUE);
  const found = {};
  let cursor;
  do {
    const page = await queue.list({ limit: PAGE, ...(cursor && { cursor }) });
    for (const { payload } of page.items) found[payload.batch] = (found[payload.batch] ?? 0) + 1;
    cursor = page.cursor;
  } while (cursor);
  return { found, ok: (await theStore().verify()).ok };
}
