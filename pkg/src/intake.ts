/** What a journal shows: decided on at once, or loaded first where it begins with a snapshot. */
import { breach, typedNews } from './committer-errors.js';
import { FencepostError } from './errors.js';
import type { Entry, Journal, News, Slot } from './journal/journal.js';
import type { Replica } from './replica.js';

/** Commits; or answers what has to be loaded first, and nothing was decided. */
export async function commitOrBehind(
  journal: Journal,
  slot: Slot,
  decide: (news: News) => Entry | null,
): Promise<News | null> {
  let behind: News | null = null;
  let asked: 'not yet' | 'yes' | 'too late' = 'not yet';
  await journal.commit(slot, (news) => {
    if (asked === 'too late') throw breach('called decide after it had ended');
    asked = 'yes';
    // The trap: asked again, the journal tells only what came since, which does not follow on ours.
    if (behind === null && beginsWithSnapshot(news)) behind = news;
    return behind === null ? decide(news) : null;
  });
  if (asked === 'not yet') throw breach('ended without calling decide');
  asked = 'too late';
  return behind;
}

function beginsWithSnapshot(news: News): boolean {
  try {
    return news.snapshot !== undefined;
  } catch (error) {
    throw typedNews(error);
  }
}

/** Waits for one step of the journal, as long as it may take. */
type Within = <T>(what: string, step: Promise<T>) => Promise<T>;

/**
 * Takes over what begins with a snapshot, or is all there is; each of its pieces must come in time.
 * False when the snapshot was replaced meanwhile: the journal is to be asked again.
 */
export async function loadInTime(replica: Replica, news: News, within: Within): Promise<boolean> {
  const { snapshot } = news;
  const timed = snapshot && { ...snapshot, parts: inTime(snapshot.parts, within) };
  try {
    await replica.load(timed === undefined ? news : { ...news, snapshot: timed });
    return true;
  } catch (error) {
    if (error instanceof FencepostError && error.details.replaced === true) return false;
    throw error;
  }
}

async function* inTime(
  parts: AsyncIterable<Uint8Array>,
  within: Within,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const read = await within('read', Promise.resolve(reader.next()));
      if (read.done === true) return;
      yield read.value;
    }
  } finally {
    // Nobody waits for it: a journal that hangs may hang in this as well.
    reader.return?.()?.catch(() => undefined);
  }
}
