/** `fencepost` for browsers and their workers. */
import { openOn } from '../open.js';
import { browser } from '../platform/browser.js';

export * from '../index.js';
export const open = openOn(browser);
