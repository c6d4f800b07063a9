/**
 * Keeps what is held from ending: one bell for all of it.
 *
 * **Cost**: one entry of the log for everything that is due at about the same time.
 */
import type { Bell } from './alarm.js';
import type { Session } from './session.js';
import type { Tenure } from './tenure.js';

/** Whatever is held for a time. */
interface Held {
  readonly tenure: Tenure;
}

export class Renewals {
  readonly #session: Session;
  readonly #held: Iterable<Held>;
  readonly #bell: Bell;
  /** What is due within this time is renewed along with what is due. */
  readonly #slack: number;

  /** `held` may change; whoever changes it calls `arm`. */
  constructor(session: Session, held: Iterable<Held>, slack: number) {
    this.#session = session;
    this.#held = held;
    this.#slack = slack;
    this.#bell = session.alarm.bell('keeps the process alive', () => this.#ring());
  }

  /** Sets the bell for the first that needs care. */
  arm(): void {
    let first = Infinity;
    for (const { tenure } of this.#held) first = Math.min(first, tenure.careAt);
    if (first === Infinity) this.#bell.silence();
    else this.#bell.ringAt(first);
  }

  #ring(): void {
    const soon = this.#session.clock.now() + this.#slack;
    for (const { tenure } of [...this.#held]) if (tenure.careAt <= soon) tenure.care();
    this.arm();
  }
}
