/** Logs that do not keep what a log promises: the simulation must find each of them. */
import type { Entry, News, Slot } from 'fencepost';
import { type Base, SharedLog } from './shared-log.js';

const EVERY = 7;

/** Says that an entry is stored, and stores nothing. */
export class ForgetfulLog extends SharedLog {
  #appends = 0;

  override append(base: Base, entry: Entry): boolean {
    this.#appends += 1;
    const isGood = base.slot === this.base.slot && base.generation === this.base.generation;
    if (this.#appends % EVERY === 0 && isGood) return true;
    return super.append(base, entry);
  }
}

/** Takes entries without looking at what they follow on. */
export class UnconditionalLog extends SharedLog {
  override append(_base: Base, entry: Entry): boolean {
    return super.append(this.base, entry);
  }
}

/** Takes an entry into a slot that compaction emptied, where nobody will ever read it. */
export class FloorlessLog extends SharedLog {
  override append(base: Base, entry: Entry): boolean {
    const isEmptied = this.holds(base.slot + 1, entry.bytes) === undefined;
    return isEmptied || super.append(base, entry);
  }
}

/** Shows what was there before the newest entry, now and then. */
export class StaleLog extends SharedLog {
  #asked = 0;
  #last: { base: Base; news: News } | null = null;

  override newsAfter(after: Slot): News {
    this.#asked += 1;
    const news = super.newsAfter(after);
    const last = this.#last;
    this.#last = { base: this.base, news: { tip: news.tip, entries: [] } };
    const isOlder = last !== null && last.base.slot >= after && last.base.slot < this.base.slot;
    if (this.#asked % EVERY !== 0 || !isOlder || news.snapshot !== undefined) return news;
    return { tip: last.news.tip, entries: news.entries.slice(0, last.base.slot - after) };
  }
}

/** Lets a late snapshot replace a newer one. */
export class RegressingLog extends SharedLog {
  #earlier: { slot: Slot; bytes: Uint8Array } | null = null;

  override compact(slot: Slot, snapshot: Uint8Array): void {
    const earlier = this.#earlier;
    this.#earlier = { slot, bytes: snapshot.slice() };
    super.compact(slot, earlier !== null && earlier.slot < slot ? earlier.bytes : snapshot);
  }
}
