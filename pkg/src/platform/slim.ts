/** Browsers, with the engine in a file of its own: for bundlers that copy what `new URL` names. */
import { location } from '../../wasm/location.js';
import { fetchedEngine, once } from '../load.js';
import { browserJournal } from './browser-journal.js';
import { engineOfOwnFile } from './own-file.js';
import type { Platform } from './platform.js';

export const slim: Platform = {
  engine: once(() => engineOfOwnFile(location, fetchedEngine)),
  engineAt: fetchedEngine,
  journal: browserJournal,
};
