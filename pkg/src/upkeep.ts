/**
 * The store's own timer: enforces expiry and retention and fires schedules while the store is open,
 * a bounded number of rows per commit.
 *
 * **Invariant**: nothing is thrown from it, and it keeps no process alive. An idle store makes no
 * commit: the engine is asked first, and only when there is work does the journal hear of it.
 */
import type { Bell } from './alarm.js';
import type { Committer } from './committer.js';
import type { FencepostError } from './errors.js';
import { Firing } from './firing.js';
import type { Bridge } from './requests.js';

const RETRY_MS = 30_000;

export class Upkeep {
  readonly #committer: Committer;
  readonly #bell: Bell;
  readonly #firing: Firing;
  #isWorking = false;
  readonly #stop: () => void;

  constructor(committer: Committer, onError: (error: FencepostError) => void) {
    this.#committer = committer;
    this.#firing = new Firing(committer, onError);
    this.#bell = committer.alarm.bell('lets the process end', () => this.#wake());
    this.#stop = committer.onMerged('everything', () => this.#schedule());
    this.#wake();
  }

  stop(): void {
    this.#stop();
    this.#bell.silence();
  }

  /** Sets the bell for the next time that something is due. */
  #schedule(): void {
    if (!this.#committer.isOpen) this.#bell.silence();
    if (this.#isWorking || !this.#committer.isOpen) return;
    const look = (engine: Bridge) => ({ due: this.#firing.nextDue(engine) });
    const seen = this.#committer.peek(undefined, look);
    // A crash: the engine is rebuilt by whoever asks next, and only then tells what is due.
    if (seen === undefined) this.#bell.ringAfter(0);
    else if (seen.due === undefined) this.#bell.silence();
    else this.#bell.ringAt(seen.due);
  }

  #wake(): void {
    if (this.#isWorking || !this.#committer.isOpen) return;
    if (this.#committer.isIdle && !this.#findsWork()) {
      this.#schedule();
      return;
    }
    this.#isWorking = true;
    this.#work().then(
      () => this.#rest(null),
      () => this.#rest(RETRY_MS),
    );
  }

  #rest(retryMs: number | null): void {
    this.#isWorking = false;
    if (!this.#committer.isOpen) return;
    if (retryMs === null) this.#schedule();
    else this.#bell.ringAfter(retryMs);
  }

  /** Tries it on the merged rows, and forgets what came of it. */
  #findsWork(): boolean {
    const { replica, clock } = this.#committer;
    try {
      return replica.use((engine) => {
        const now = clock.now();
        engine.maintain(now);
        const finds = this.#firing.finds(engine, now);
        engine.discard();
        return finds;
      });
    } catch {
      // A crash: the next commit rebuilds the engine. Anything else: the commit meets it, too.
      return true;
    }
  }

  async #work(): Promise<void> {
    let more = true;
    while (more && this.#committer.isOpen) {
      const { reply } = await this.#committer.ask('command', undefined, (engine, at) =>
        engine.maintain(at.now),
      );
      more = reply.more;
    }
    await this.#firing.fire();
  }
}
