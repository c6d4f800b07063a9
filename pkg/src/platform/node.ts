/** Node: the engine is read from the file it lies in, so it is the one built for speed. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { location } from '../../wasm/location-fast.js';
import { file } from '../journal/file.js';
import { once } from '../load.js';
import { engineOfOwnFile } from './own-file.js';
import type { Platform } from './platform.js';
import { readEngine } from './read.js';

export const node: Platform = {
  engine: once(() => engineOfOwnFile(location, readEngine)),
  engineAt: readEngine,
  journal: file,
  hooks: { AsyncLocalStorage },
};
