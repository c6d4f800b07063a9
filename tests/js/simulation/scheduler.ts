/**
 * The one thing that makes anything happen: events in the order of virtual time.
 *
 * **Invariant**: an event begins when everything that the one before it set going has come to rest.
 * So a world is the sequence of its events, and two runs of one seed do the same, microtask by
 * microtask. Events of one instant are drawn, as nobody promises their order.
 */
import type { Chance } from './chance.js';

interface Event {
  readonly at: number;
  readonly rank: number;
  readonly run: () => void;
}

/** An event that can be taken back. */
export interface Planned {
  cancel(): void;
}

export class Scheduler {
  readonly #chance: Chance;
  readonly #onThrown: (error: unknown) => void;
  readonly #events = new Set<Event>();
  #now = 0;

  /** `onThrown` learns of what an event threw, which nothing may. */
  constructor(chance: Chance, onThrown: (error: unknown) => void) {
    this.#chance = chance;
    this.#onThrown = onThrown;
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Planned {
    const at = this.#now + Math.max(0, Math.ceil(ms));
    const event = { at, rank: this.#chance.below(1 << 30), run };
    this.#events.add(event);
    return { cancel: () => this.#events.delete(event) };
  }

  /** Lets time pass, while `goesOn`. */
  async pass(ms: number, goesOn: () => boolean): Promise<void> {
    const end = this.#now + ms;
    await rest();
    for (let next = this.#next(end); next !== undefined && goesOn(); next = this.#next(end)) {
      this.#events.delete(next);
      this.#now = next.at;
      this.#run(next);
      await rest();
    }
    if (goesOn()) this.#now = end;
  }

  #run({ run }: Event): void {
    try {
      run();
    } catch (error) {
      this.#onThrown(error);
    }
  }

  #next(end: number): Event | undefined {
    let next: Event | undefined;
    for (const event of this.#events) {
      if (event.at > end) continue;
      if (next === undefined || event.at < next.at) next = event;
      else if (event.at === next.at && event.rank < next.rank) next = event;
    }
    return next;
  }
}

/** Until no microtask is left: nothing in a world waits for anything else. */
function rest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
