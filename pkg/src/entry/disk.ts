/** `fencepost` for Deno, and wherever the engine's file can't be read. */
import { openOn } from '../open.js';
import { disk } from '../platform/disk.js';

export * from '../index.js';
export const open = openOn(disk);
