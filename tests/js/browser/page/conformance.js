/** The journal conformance suite, case by case, each on a database of its own. */
import { indexedDb } from 'fencepost/indexeddb';
import { journalConformance } from 'fencepost/testing';

/** Runs one case. */
export async function conformanceCase(name, durability) {
  const cases = new Map();
  journalConformance(freshStorage, { test: (title, body) => cases.set(title, body), shared: true });
  await cases.get(name)();

  function freshStorage() {
    const database = `conformance ${crypto.randomUUID()}`;
    return {
      journal: () => indexedDb({ database, durability }),
      dispose: () => deleteDatabase(database),
    };
  }
}

/** Every connection was closed: deleting may not be blocked. */
function deleteDatabase(database) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(database);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('a connection was left open'));
  });
}
