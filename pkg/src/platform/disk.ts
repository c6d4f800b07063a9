/** Deno, where reading the engine's file may be forbidden, and bundles in Node that mislaid it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { file } from '../journal/file.js';
import { inlinedEngine } from './inlined.js';
import type { Platform } from './platform.js';
import { readEngine } from './read.js';

export const disk: Platform = {
  engine: inlinedEngine,
  engineAt: readEngine,
  journal: file,
  hooks: { AsyncLocalStorage },
};
