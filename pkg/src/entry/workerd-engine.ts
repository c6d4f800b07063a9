/** `fencepost/engine` for edge workers. */
import { engineOn, type Engine as Made } from '../engine.js';
import { workerd } from '../platform/workerd.js';

export type * from '../engine.js';
export { check, del, put } from '../writes.js';
export type Engine = Made;
export const Engine = engineOn(workerd);
