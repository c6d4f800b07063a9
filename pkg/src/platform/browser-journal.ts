/** A database where there is one: in every page and worker, unless its origin is opaque. */
import { indexedDb } from '../journal/indexeddb.js';
import type { Journal } from '../journal/journal.js';
import { noJournal } from './platform.js';

export function browserJournal(): Journal {
  if ('indexedDB' in globalThis) return indexedDb();
  throw noJournal('pass memory() or another journal');
}
