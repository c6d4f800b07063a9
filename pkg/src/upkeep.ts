/**
 * The store's own timer: enforces expiry and retention while the store is open, a bounded number of
 * rows per commit.
 *
 * **Invariant**: nothing is thrown from it, and it keeps no process alive. An idle store makes no
 * commit: the engine is asked first, and only when there is work does the journal hear of it.
 */
import type { Timer } from './clock.js';
import type { Committer } from './committer.js';
import { Crash } from './replica.js';

const RETRY_MS = 30_000;

export class Upkeep {
  readonly #committer: Committer;
  #timer: { at: number; timer: Timer } | null = null;
  #isWorking = false;
  readonly #stop: () => void;

  constructor(committer: Committer) {
    this.#committer = committer;
    this.#stop = committer.onMerged(() => this.#schedule());
    this.#wake();
  }

  stop(): void {
    this.#stop();
    this.#timer?.timer.cancel();
    this.#timer = null;
  }

  /** Sets the timer for the next time that something is due, if it is not set for earlier. */
  #schedule(): void {
    if (this.#isWorking || !this.#committer.isOpen) return;
    const due = this.#committer.peek(undefined, (engine) => engine.nextDue);
    if (due === undefined || (this.#timer !== null && this.#timer.at <= due)) return;
    this.#arm(due, this.#committer.clock.delayUntil(due));
  }

  #arm(at: number, ms: number): void {
    this.#timer?.timer.cancel();
    const timer = this.#committer.clock.setIdleTimer(ms, () => {
      this.#timer = null;
      this.#wake();
    });
    this.#timer = { at, timer };
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
    else this.#arm(this.#committer.clock.now() + retryMs, retryMs);
  }

  /** Tries it on the merged rows, and forgets what came of it. */
  #findsWork(): boolean {
    const { replica, clock } = this.#committer;
    try {
      return replica.use((engine) => {
        engine.maintain(clock.now());
        const finds = engine.stagedCommands > 0;
        engine.discard();
        return finds;
      });
    } catch (error) {
      // The next commit rebuilds the engine.
      if (error instanceof Crash) return true;
      throw error;
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
  }
}
