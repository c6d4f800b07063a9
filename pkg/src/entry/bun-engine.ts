/** `fencepost/engine` for Bun. */
import { engineOn, type Engine as Made } from '../engine.js';
import { bun } from '../platform/bun.js';

export type * from '../engine.js';
export { check, del, put } from '../writes.js';
export type Engine = Made;
export const Engine = engineOn(bun);
