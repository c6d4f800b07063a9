/** `fencepost` for Bun. */
import { openOn } from '../open.js';
import { bun } from '../platform/bun.js';

export * from '../index.js';
export const open = openOn(bun);
