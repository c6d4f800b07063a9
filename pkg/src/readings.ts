/** What is read of the journal beside the commits, for whoever replays it. Stores nothing. */
import { breach } from './committer-errors.js';
import type { FencepostError } from './errors.js';
import type { Journal, News, Slot } from './journal/journal.js';

export class Readings {
  readonly #abandons = new Set<(error: FencepostError) => void>();

  /** Shows what the journal has after a slot, perhaps in several parts. */
  async read(journal: Journal, after: Slot, look: (news: News) => void): Promise<void> {
    // Nobody waits for what is read in a store that has ended meanwhile: no timer is to be left.
    let abandon = (_: FencepostError) => {};
    const ended = new Promise<never>((_, reject) => {
      abandon = reject;
    });
    this.#abandons.add(abandon);
    try {
      await Promise.race([readOnce(journal, after, look), ended]);
    } finally {
      this.#abandons.delete(abandon);
    }
  }

  /** Ends whatever is under way. */
  abandon(error: FencepostError): void {
    for (const abandon of this.#abandons) abandon(error);
  }
}

async function readOnce(journal: Journal, after: Slot, look: (news: News) => void): Promise<void> {
  let isAsked = false;
  await journal.commit(after, (news) => {
    isAsked = true;
    look(news);
    return null;
  });
  if (!isAsked) throw breach('ended without calling decide');
}
