/**
 * Keeps the claims of a worker's runs: one bell for all of them.
 *
 * **Cost**: one entry of the log for all claims that are due at about the same time.
 */
import type { Bell } from './alarm.js';
import type { Session } from './session.js';
import type { TaskRun } from './worker-run.js';

export class Renewals {
  readonly #session: Session;
  readonly #runs: ReadonlySet<TaskRun>;
  readonly #bell: Bell;
  /** Claims that are due within this time are renewed along with those that are due. */
  readonly #slack: number;

  constructor(session: Session, runs: ReadonlySet<TaskRun>, lease: number) {
    this.#session = session;
    this.#runs = runs;
    this.#slack = Math.floor(lease / 12);
    this.#bell = session.alarm.bell('keeps the process alive', () => this.#ring());
  }

  /** Sets the bell for the first claim that needs care. */
  arm(): void {
    let first = Infinity;
    for (const { tenure } of this.#runs) first = Math.min(first, tenure.careAt);
    if (first === Infinity) this.#bell.silence();
    else this.#bell.ringAt(first);
  }

  #ring(): void {
    const soon = this.#session.clock.now() + this.#slack;
    for (const { tenure } of [...this.#runs]) if (tenure.careAt <= soon) tenure.care();
    this.arm();
  }
}
