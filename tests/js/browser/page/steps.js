/** What tests call in a page. Arguments and results are JSON. */
export { conformanceCase } from './conformance.js';
export * from './faults.js';
export * from './full.js';
export { whatIsThere, writeForEver } from './kill.js';
export * from './large.js';
export * from './lifecycle.js';
export { drainMore, work } from './load.js';
export * from './waiting.js';
export * from './work.js';
export * from './workers.js';
export * from './working.js';
