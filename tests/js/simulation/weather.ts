/**
 * What goes wrong in one world. Each world draws which faults it has and how often: worlds with a
 * few faults find what worlds with all of them hide.
 */
import type { Chance } from './chance.js';

/**
 * What becomes of a call to the journal.
 *
 * - `refuse`: nothing is sent, and the error says so
 * - `lose request`: nothing is sent, and the error does not tell
 * - `late request`: the error comes first, and the request arrives long after it
 * - `lose reply`: it is done, and the error does not tell
 * - `late reply`: it is done, and told long after
 * - `twice`: the request arrives a second time, long after the first
 * - `retry`: the reply is lost, and the journal itself asks again
 * - `die before`, `die after`: the process ends just before or after it is done
 */
export const FAULTS = [
  'refuse',
  'lose request',
  'late request',
  'lose reply',
  'late reply',
  'twice',
  'retry',
  'die before',
  'die after',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What happens to the machines and to the storage as a whole. */
export const MISHAPS = [
  'crash',
  'restart',
  'freeze',
  'clock jump',
  'engine trap',
  'full storage',
  'cleared storage',
] as const;
export type Mishap = (typeof MISHAPS)[number];

/** How often an enabled fault strikes, in calls of a hundred. */
const FAULT_PERCENT = [3, 8, 20];

export class Weather {
  readonly #chance: Chance;
  readonly #faults: readonly Fault[];
  readonly #percent: number;
  readonly #lateMs: number;
  /** Mishaps that this world has. */
  readonly mishaps: readonly Mishap[];
  /** From here on nothing goes wrong any more. */
  isOver = false;

  constructor(chance: Chance) {
    this.#chance = chance;
    const share = chance.oneOf([0, 20, 50]);
    this.#faults = FAULTS.filter(() => chance.happens(share));
    this.mishaps = MISHAPS.filter(
      (mishap) => mishap === 'restart' || chance.happens(mishap === 'cleared storage' ? 12 : 40),
    );
    this.#percent = chance.oneOf(FAULT_PERCENT);
    this.#lateMs = chance.oneOf([100, 2_000, 60_000]);
  }

  toString(): string {
    const percent = `${this.#percent}%, ${this.#lateMs} ms late`;
    return `${[...this.#faults, ...this.mishaps].join(', ')} (${percent})`;
  }

  /** The fault of the next call, of those that the call can have. */
  draw(possible: readonly Fault[]): Fault | null {
    if (this.isOver || !this.#chance.happens(this.#percent)) return null;
    const faults = this.#faults.filter((fault) => possible.includes(fault));
    return faults.length === 0 ? null : this.#chance.oneOf(faults);
  }

  /** How long a message takes. */
  latency(): number {
    return this.#chance.happens(30) ? 0 : this.#chance.between(0, 20);
  }

  lateness(): number {
    return this.#chance.between(20, this.#lateMs);
  }

  losesHint(): boolean {
    return !this.isOver && this.#chance.happens(this.#percent);
  }
}
