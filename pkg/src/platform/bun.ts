/** Bun: such an import is a path, and its bundler and its executables take the file along. */
import { AsyncLocalStorage } from 'node:async_hooks';
import path from '../../wasm/fencepost_fast.wasm' with { type: 'file' };
import { file } from '../journal/file.js';
import { once } from '../load.js';
import type { Platform } from './platform.js';
import { readEngine } from './read.js';

export const bun: Platform = {
  engine: once(() => readEngine(new URL(path as string, import.meta.url))),
  engineAt: readEngine,
  journal: file,
  hooks: { AsyncLocalStorage },
};
