/** What a case of the conformance suite is given. */
import type { Journal } from '../journal/journal.js';

/** One fresh, empty storage. */
export interface JournalUnderTest {
  /**
   * A journal on that storage. Called again after the first one was closed, to see what is still
   * there; with `shared`, also while it is open. May return the same object.
   */
  journal(): Journal | Promise<Journal>;
  /** Called at the end of the test, after every journal was closed. */
  dispose?(): void | Promise<void>;
}

/** One test. It closes what it opens. */
export type Case = (under: JournalUnderTest) => Promise<void>;
