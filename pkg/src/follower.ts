/**
 * Keeps a store up to date while somebody waits for something to happen.
 *
 * What this store merges wakes the waiters anyway. Other writers are noticed by the journal's
 * hints, and because a hint may be lost, by a look every 30 seconds. Nobody waits: nothing runs.
 */
import type { Alarm, Bell } from './alarm.js';
import { pauseAfter } from './failure.js';
import type { Journal } from './journal/journal.js';
import type { Topic } from './wakes.js';

/** What it needs of the committer. */
export interface Followed {
  readonly journal: Journal;
  readonly alarm: Alarm;
  readonly isOpen: boolean;
  onMerged(topic: Topic, wake: () => void): () => void;
  /** Reads what is new. */
  sync(): Promise<unknown>;
}

const LOOK_MS = 30_000;

export class Follower {
  readonly #store: Followed;
  readonly #bell: Bell;
  #waiters = 0;
  #stopWatching: (() => void) | undefined;
  #isLooking = false;
  #wasHinted = false;
  #failures = 0;

  constructor(store: Followed) {
    this.#store = store;
    this.#bell = store.alarm.bell('keeps the process alive', () => {
      if (!store.isOpen) return;
      this.#bell.ringAfter(LOOK_MS);
      this.#look();
    });
  }

  /** Calls `wake` when what it waits for was merged. Returns the way to stop it. */
  follow(topic: Topic, wake: () => void): () => void {
    const stop = this.#store.onMerged(topic, wake);
    this.#waiters += 1;
    if (this.#waiters === 1) this.#begin();
    let isStopped = false;
    return () => {
      if (isStopped) return;
      isStopped = true;
      stop();
      this.#waiters -= 1;
      if (this.#waiters === 0) this.#end();
    };
  }

  #begin(): void {
    try {
      this.#stopWatching = this.#store.journal.watch?.(() => this.#look());
    } catch {
      // A journal that cannot give hints is looked at all the same.
      this.#stopWatching = undefined;
    }
    this.#bell.ringAfter(LOOK_MS);
  }

  #end(): void {
    const stop = this.#stopWatching;
    this.#stopWatching = undefined;
    // What a journal's own code throws there is nobody's.
    new Promise<void>((resolve) => resolve(stop?.())).catch(() => undefined);
    this.#bell.silence();
  }

  /**
   * Reads what is new. A failure that may pass is nobody's: whoever waits goes on waiting, and it
   * is tried again sooner than in 30 seconds. One that ends the store wakes everybody.
   */
  #look(): void {
    // The trap: what a hint tells of may have come after the present look read the tail.
    this.#wasHinted = this.#isLooking;
    if (this.#isLooking || !this.#store.isOpen) return;
    this.#isLooking = true;
    const done = (failures: number) => {
      this.#isLooking = false;
      this.#failures = failures;
      if (this.#waiters === 0 || !this.#store.isOpen) return;
      if (failures > 0) this.#bell.ringAfter(pauseAfter(failures));
      else if (this.#wasHinted) this.#look();
    };
    this.#store.sync().then(
      () => done(0),
      () => done(this.#failures + 1),
    );
  }
}
