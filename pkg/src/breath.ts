/**
 * Lets the event loop breathe: where a journal answers without a turn of it, calls that follow on
 * each other would keep timers, messages and input waiting for as long as there are any.
 *
 * **Cost**: one turn is asked for while there is work, and waited for only when it does not come by
 * itself within a few milliseconds.
 */
import { nextTurn } from './turn.js';

const MS_MAX = 4;
/** For clocks that stand still. */
const STEPS_MAX = 256;

export class Breath {
  readonly #turn: () => Promise<void>;
  #pending: Promise<void> | null = null;
  #since = 0;
  #steps = 0;

  /** `turn`: resolves after a turn of the event loop. */
  constructor(turn: () => Promise<void> = nextTurn) {
    this.#turn = turn;
  }

  /** Before a step: what to wait for, if there was no turn for too long. `now`: monotonic. */
  due(now: number): Promise<void> | null {
    if (this.#pending === null) {
      this.#since = now;
      this.#steps = 0;
      this.#pending = this.#turn().then(() => {
        this.#pending = null;
      });
    }
    this.#steps += 1;
    return now - this.#since >= MS_MAX || this.#steps > STEPS_MAX ? this.#pending : null;
  }
}
