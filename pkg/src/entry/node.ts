/** `fencepost` for Node. */
import { openOn } from '../open.js';
import { node } from '../platform/node.js';

export * from '../index.js';
export const open = openOn(node);
