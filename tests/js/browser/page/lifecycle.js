/** What a page can notice of its own life, and work that goes on until it is stopped. */
import { open } from 'fencepost';
import { theStore } from './work.js';

/** Whether the page was kept as it was while another one was shown in its place. */
let returns = 0;
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) returns += 1;
});

export function returnsOfPage() {
  return returns;
}

let isWriting = false;
let written = 0;

/** Puts without a pause, several at a time, until `stopWriting`. */
export function startWriting(key, parallel) {
  isWriting = true;
  written = 0;
  for (let lane = 0; lane < parallel; lane += 1) void writeOn(`${key} ${lane}`);
}

async function writeOn(key) {
  while (isWriting) {
    try {
      await theStore().kv.put(key, 'x'.repeat(20_000));
    } catch {
      return;
    }
    written += 1;
  }
}

/** How many puts were acknowledged so far. */
export function countWritten() {
  return written;
}

export function stopWriting() {
  isWriting = false;
}

/** How long a put takes here. */
export async function timeOfPut(key) {
  const started_ms = performance.now();
  await theStore().kv.put(key, 1);
  return performance.now() - started_ms;
}

let pending = null;

/** Begins a put, which is asked for later. */
export function beginPut(key, value) {
  pending = theStore()
    .kv.put(key, value)
    .then(
      () => 'ok',
      ({ code }) => code,
    );
}

export function endOfPut() {
  return pending;
}

/** Two triggers of one turn: both enqueue under one key, both claim, both complete. */
export async function twoInOneTurn() {
  const queue = theStore().queue('twice');
  const ids = await Promise.all([1, 2].map((from) => queue.enqueue({ from }, { key: 'one' })));
  const claims = await Promise.all(['a', 'b'].map((owner) => queue.claim(owner)));
  const tasks = claims.flat();
  const outcomes = await Promise.all([tasks[0].complete(), tasks[0].complete()]);
  return {
    ids: ids.map(({ id }) => id),
    claimed: tasks.length,
    outcomes: outcomes.map((outcome) => outcome.ok || outcome.reason),
  };
}

/** Opens the store twice in this page at once, closes the one, and uses the other. */
export async function mountTwice(name) {
  const [first, second] = await Promise.all([open(name), open(name)]);
  await first.close();
  await second.kv.put('mounted', 'still');
  const { value } = await second.kv.get('mounted');
  await second.close();
  return value;
}

/** Fails the next task so that it is due again after `base` milliseconds. */
export async function failOne(base) {
  const queue = theStore().queue('retried', { backoff: { base } });
  await queue.enqueue('upload');
  const [task] = await queue.claim('before');
  await task.fail('offline');
}

/** Waits until the task is due again. Nothing is written meanwhile. */
export async function claimRetried() {
  const queue = theStore().queue('retried');
  for (;;) {
    const [task] = await queue.claim('after');
    if (task !== undefined) return task.attempt;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * A connection of another program that lets nobody delete the database, and a deletion that waits
 * for it. Whoever opens the database now waits as well, until `letGo`.
 */
let foreign = null;
export async function blockDatabase(name) {
  foreign = await new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const deletion = indexedDB.deleteDatabase(name);
  await new Promise((resolve) => {
    deletion.onblocked = () => resolve();
  });
}

export function letGo() {
  foreign.close();
}
