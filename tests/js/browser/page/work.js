/** One store per page, opened the way a user does, with the default journal. */
import { open } from 'fencepost';

const QUEUE = 'work';
let store = null;
/** Claimed tasks by id. */
const held = new Map();

/** Answers the log id, or the code of the error. */
export async function tryToOpen(name, options) {
  return openStore(name, options).catch(({ code }) => code);
}

export async function openStore(name, options) {
  store = await open(name, options);
  return store.logId;
}

/** Opens it. Answers what Chromium says of data it has lost, or `null` when nothing was made. */
export async function openAndWatchLoss(name) {
  const real = IDBFactory.prototype.open;
  let dataLoss = null;
  IDBFactory.prototype.open = function open(...args) {
    const request = real.apply(this, args);
    request.addEventListener('upgradeneeded', (event) => {
      dataLoss = event.dataLoss;
    });
    return request;
  };
  try {
    await openStore(name);
  } finally {
    IDBFactory.prototype.open = real;
  }
  return dataLoss;
}

export function logId() {
  return store.logId;
}

/** The open store, for the other modules. */
export function theStore() {
  return store;
}

export async function closeStore() {
  await store.close();
}

export async function enqueue(payload) {
  return store.queue(QUEUE).enqueue(payload);
}

/** Answers id, token, payload and attempt of each. */
export async function claim(owner, options) {
  const tasks = await store.queue(QUEUE).claim(owner, options);
  for (const task of tasks) held.set(task.id, task);
  return tasks.map(({ id, token, payload, attempt }) => ({ id, token, payload, attempt }));
}

/** Answers `true`, or the reason of the refusal. */
export async function complete(id) {
  const outcome = await held.get(id).complete();
  return outcome.ok || outcome.reason;
}

export async function counts() {
  return store.queue(QUEUE).counts();
}

/** What was put under `key`. */
export async function read(key) {
  return (await store.kv.get(key))?.value ?? null;
}

export async function put(key, value) {
  await store.kv.put(key, value);
}

/** Version and SHA-256 of all rows, and whether every index equals a rebuilt one. */
export async function fingerprint() {
  const { ok } = await store.verify();
  const rows = await store.snapshot();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', rows));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { ok, version: store.version, hash };
}
