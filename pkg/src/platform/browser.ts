/** Browsers and their workers: the engine comes as a module, which any bundler passes on. */
import { fetchedEngine } from '../load.js';
import { browserJournal } from './browser-journal.js';
import { inlinedEngine } from './inlined.js';
import type { Platform } from './platform.js';

export const browser: Platform = {
  engine: inlinedEngine,
  engineAt: fetchedEngine,
  journal: browserJournal,
};
