/** `fencepost/engine` for Node. */
import { engineOn, type Engine as Made } from '../engine.js';
import { node } from '../platform/node.js';

export type * from '../engine.js';
export { check, del, put } from '../writes.js';
export type Engine = Made;
export const Engine = engineOn(node);
