/** `fencepost/engine` for Deno, and wherever the engine's file can't be read. */
import { engineOn, type Engine as Made } from '../engine.js';
import { disk } from '../platform/disk.js';

export type * from '../engine.js';
export { check, del, put } from '../writes.js';
export type Engine = Made;
export const Engine = engineOn(disk);
