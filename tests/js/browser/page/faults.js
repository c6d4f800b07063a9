/** What browsers do to an open database, and what a page can do to look like them. */
import { theStore } from './work.js';

const complaints = [];
addEventListener('unhandledrejection', (event) => complaints.push(String(event.reason)));
addEventListener('error', (event) => complaints.push(event.message));

/** Unhandled rejections and errors of this page. */
export function complaintsOfPage() {
  return complaints;
}

/** `ok`, or the code of the error that a put is rejected with. */
export async function tryToPut(key, value) {
  try {
    await theStore().kv.put(key, value);
    return 'ok';
  } catch (error) {
    return error.code;
  }
}

/** Puts values until one is rejected: how many were acknowledged, and what the last was told. */
export async function putUntilRefused(bytes) {
  const value = 'x'.repeat(bytes);
  for (let acknowledged = 0; ; acknowledged += 1) {
    try {
      await theStore().kv.put(`${acknowledged}`, value);
    } catch ({ code, kind, message }) {
      return { acknowledged, code, kind, message };
    }
  }
}

/** How many of the values are there. */
export async function countValues(count) {
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    if ((await theStore().kv.get(`${at}`)) !== null) found += 1;
  }
  return found;
}

/** A new token of a lease. */
export async function takeToken() {
  const granted = await theStore().lease('any').acquire('me', { ttl: 0 });
  return granted.lease.token;
}

/** Resolves when it is deleted; every open connection has to let go of it. */
export function deleteDatabase(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve(null);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('a connection did not let go'));
  });
}

/** Makes `indexedDB.open` fail in a way, until `mendOpen`. */
const realOpen = IDBFactory.prototype.open;
export function breakOpen(way) {
  IDBFactory.prototype.open = function open(...args) {
    if (way === 'throw') throw new DOMException('storage is blocked', 'SecurityError');
    if (way === 'hang') return {};
    const request = realOpen.apply(this, [`${args[0]} elsewhere`, args[1]]);
    // As in a private window of old: a request that fails.
    const refused = { error: new DOMException('a private window', 'InvalidStateError') };
    request.onsuccess = () => refused.onerror(new Event('error'));
    return refused;
  };
}

export function mendOpen() {
  IDBFactory.prototype.open = realOpen;
}

/** The next transactions find their connection lost. */
export function loseConnection(times) {
  const real = IDBDatabase.prototype.transaction;
  let left = times;
  IDBDatabase.prototype.transaction = function transaction() {
    left -= 1;
    if (left <= 0) IDBDatabase.prototype.transaction = real;
    throw new DOMException('The database connection is closing.', 'InvalidStateError');
  };
}

/** The next transaction ends with an abort that nobody asked for. */
export function abortNext() {
  const real = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function put(...args) {
    IDBObjectStore.prototype.put = real;
    const request = real.apply(this, args);
    this.transaction.abort();
    return request;
  };
}

/**
 * The next request of this kind is refused, and what it was to store is missing: `method` of the
 * object store `name`. With `isDeaf` the transaction cannot be aborted on top.
 */
export function refuseNext(name, method, isDeaf = false) {
  const real = IDBObjectStore.prototype[method];
  IDBObjectStore.prototype[method] = function refused(...args) {
    if (this.name !== name) return real.apply(this, args);
    IDBObjectStore.prototype[method] = real;
    if (isDeaf) {
      this.transaction.abort = () => {
        throw new DOMException('It is being committed.', 'InvalidStateError');
      };
    }
    // The second of one key is refused.
    const key = name === 'snapshot' ? [0, 0] : 'nobody asks for this';
    this.add(null, key);
    return this.add(null, key);
  };
}

/** Changes the head of a database as another program might. */
export async function changeHead(name, change) {
  const database = await openAt(name, 1);
  const meta = database.transaction('meta', 'readwrite').objectStore('meta');
  const head = await answerOf(meta.get('head'));
  await answerOf(meta.put({ ...head, ...change }, 'head'));
  database.close();
}

/** Makes a database that is no journal, or a journal of a later version. */
export async function makeForeign(name, version) {
  (await openAt(name, version)).close();
}

function openAt(name, version) {
  return answerOf(indexedDB.open(name, version));
}

function answerOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

let last = performance.now();
let longestGap_ms = 0;
setInterval(() => {
  longestGap_ms = Math.max(longestGap_ms, performance.now() - last);
  last = performance.now();
}, 20);

/** For how long this page has stood still at most. */
export function longestGap() {
  return longestGap_ms;
}

/** A database of one value, to be deleted when room is needed. */
export async function fillDatabase(name, bytes) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('bytes').put(new Uint8Array(bytes), 'bytes');
  };
  (await answerOf(request)).close();
}
