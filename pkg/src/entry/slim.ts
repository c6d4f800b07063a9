/** `fencepost` for browsers, with the engine in a file of its own. */
import { openOn } from '../open.js';
import { slim } from '../platform/slim.js';

export * from '../index.js';
export const open = openOn(slim);
