/**
 * Finds out what became of an entry whose commit failed without telling.
 *
 * The journal is read again: the commit is there (landed), another entry is in its slot (lost), or
 * the slot is free, and the same bytes are sent again. It goes on until one of the three is
 * certain: a request may still be under way, so nothing else may be sent before.
 */
import type { LogClock } from './clock.js';
import { FencepostError } from './errors.js';
import { isFatal } from './failure.js';
import type { Journal, News } from './journal/journal.js';
import { Crash, type Replica } from './replica.js';
import type { Sealed } from './round.js';

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 5_000;
const CRASHES_MAX = 2;

export interface UnknownParts {
  readonly journal: Journal;
  readonly replica: Replica;
  readonly clock: LogClock;
  /** Nobody wants to know any more. */
  isOver(): boolean;
}

/**
 * Whether the entry landed; false: it never will.
 *
 * @throws FencepostError what the journal turned out to be: `LOG_REPLACED`, `JOURNAL_CORRUPT`
 * @throws Crash when the engine cannot merge what is there
 */
export async function resolveUnknown(sealed: Sealed, parts: UnknownParts): Promise<boolean> {
  let pause = 0;
  let crashes = 0;
  while (!parts.isOver()) {
    if (pause > 0) await sleep(pause, parts.clock);
    pause = Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS_MIN, 2 * pause));
    const seen = await look(sealed, parts);
    if (seen === 'landed' || seen === 'lost') return seen === 'landed';
    if (seen === 'unclear') continue;
    if (!(seen.fault instanceof Crash)) throw seen.fault;
    crashes += 1;
    if (crashes === CRASHES_MAX) throw seen.fault;
  }
  return false;
}

type Seen = 'landed' | 'lost' | 'unclear' | { fault: unknown };

/** Reads once, and sends again when the slot is free. */
async function look(sealed: Sealed, { journal, replica }: UnknownParts): Promise<Seen> {
  const look: { seen: Seen; again: boolean } = { seen: 'unclear', again: false };
  let behind: News | null = null;
  try {
    replica.rebuild();
    await journal.commit(replica.slot, (news) => {
      look.seen = 'unclear';
      if (behind === null && news.snapshot !== undefined) behind = news;
      if (behind !== null) return null;
      try {
        replica.accept(news);
        look.seen = replica.use((engine) => engine.holds(sealed.commit)) ? 'landed' : 'lost';
        look.again = look.seen === 'lost' && replica.slot === sealed.base;
        return look.again ? sealed : null;
      } catch (fault) {
        look.seen = { fault };
        throw fault;
      }
    });
  } catch (error) {
    // A journal that is damaged, or of another log, will not tell more when it is asked again.
    if (error instanceof Crash || isFatal(error)) return { fault: error };
    return typeof look.seen === 'object' ? look.seen : 'unclear';
  }
  if (behind !== null) return loadAndLook(behind, sealed, replica);
  if (!look.again) return look.seen;
  // What was sent again is stored now: merge it like an entry of anybody's.
  replica.acceptOne(sealed);
  return 'landed';
}

/** The entries behind are compacted away: whoever is in the snapshot is told by it. */
async function loadAndLook(news: News, sealed: Sealed, replica: Replica): Promise<Seen> {
  try {
    await replica.load(news);
    if (replica.use((made) => made.holds(sealed.commit))) return 'landed';
    return replica.slot > sealed.base ? 'lost' : 'unclear';
  } catch (fault) {
    const { code, details } = fault instanceof FencepostError ? fault : {};
    const passes = details?.replaced === true || code === 'JOURNAL_UNAVAILABLE';
    const isKnown = fault instanceof Crash || fault instanceof FencepostError;
    return isKnown && !passes ? { fault } : 'unclear';
  }
}

function sleep(ms: number, clock: LogClock): Promise<void> {
  return new Promise((resolve) => {
    clock.setIdleTimer(ms, resolve);
  });
}
