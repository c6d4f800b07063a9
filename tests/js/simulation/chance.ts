/** Every draw of a simulated world: streams of random numbers that depend on the seed alone. */
import { Random } from '../journal/random.js';

/** Spreads neighbouring seeds and streams apart. */
const STREAM_STEP = 0x9e37_79b1;

export class Chance {
  readonly #seed: number;
  readonly #random: Random;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
  }

  /** A stream of its own: what is drawn from it moves nothing in another one. */
  stream(number: number): Chance {
    return new Chance(Math.imul(this.#seed + number * STREAM_STEP, 0x85eb_ca6b) ^ number);
  }

  /** A whole number from 0 up to, not including, `bound`. */
  below(bound: number): number {
    return this.#random.below(bound);
  }

  /** A whole number of a range, both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** Whether something happens that happens `percent` times in a hundred. */
  happens(percent: number): boolean {
    return this.below(100) < percent;
  }

  oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  }

  weighted<T extends { weight: number }>(choices: readonly T[]): T {
    const total = choices.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.below(total);
    const chosen = choices.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  }
}
