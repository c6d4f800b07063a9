/** `fencepost` for edge workers. */
import { openOn } from '../open.js';
import { workerd } from '../platform/workerd.js';

export * from '../index.js';
export const open = openOn(workerd);
