/** Taking a journal over from a holder that died in the middle of its work. */
import type { Committer } from './committer.js';
import { FencepostError } from './errors.js';
import type { Tenure } from './journal/journal.js';

/**
 * Gives back what the dead holder's owners had claimed, in commits of a bounded size, and notes
 * where this holder begins. What was granted before the dead one opened keeps its token.
 */
export async function succeed(committer: Committer, tenure: Tenure): Promise<void> {
  const { since } = tenure;
  try {
    for (let more = since !== null; more; ) {
      const { reply } = await committer.ask('command', undefined, (engine, { now }) =>
        engine.reclaim(since ?? 0, now),
      );
      more = reply;
    }
    tenure.note(committer.replica.use((engine) => engine.newestToken));
  } catch (error) {
    // A full disk: the store has to open all the same, for its work to be done. The leases run out
    // by themselves, and the next holder finds the note of the one before.
    if (error instanceof FencepostError && error.kind !== 'unavailable') throw error;
  }
}
