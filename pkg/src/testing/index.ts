/** `fencepost/testing`: what tests of stores and of journals need. */

export type { Case, JournalUnderTest } from './case.js';
export { type VirtualClock, virtualClock } from './clock.js';
export { type ConformanceOptions, journalConformance } from './conformance.js';
export {
  type Fault,
  type FaultyJournal,
  type FaultyOptions,
  faulty,
  type Operation,
} from './faulty.js';
