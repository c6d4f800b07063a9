/** Random numbers that can be had again. */

/** A new seed for each run; a variable of the environment repeats one. */
export function freshSeed(variable = 'FENCEPOST_SEED'): number {
  const given = process.env[variable];
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to, not including, `bound` (mulberry32). */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }
}
