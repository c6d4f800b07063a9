/** `fencepost/engine` for browsers and their workers. */
import { engineOn, type Engine as Made } from '../engine.js';
import { browser } from '../platform/browser.js';

export type * from '../engine.js';
export { check, del, put } from '../writes.js';
export type Engine = Made;
export const Engine = engineOn(browser);
