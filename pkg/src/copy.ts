/**
 * All rows as of one slot, read from the engine part by part while it goes on.
 *
 * **Invariant**: an engine makes one copy at a time; the next one waits for its turn.
 */
import type { Slot } from './journal/journal.js';
import { Turns } from './journal/turns.js';
import type { Replica } from './replica.js';
import type { Bridge } from './requests.js';
import { nextTurn } from './turn.js';

/** A copy that was begun. */
export interface Begun {
  readonly id: number;
  readonly slot: Slot;
}

export class Copies {
  readonly #replica: Pick<Replica, 'use'>;
  readonly #turns = new Turns();

  constructor(replica: Pick<Replica, 'use'>) {
    this.#replica = replica;
  }

  /** Begins one in its turn, and gives its slot and its parts to `take`, which reads them. */
  make<T>(
    begin: (look: (engine: Bridge) => Begun) => Begun | Promise<Begun>,
    take: (slot: Slot, parts: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    return this.#turns.run(async () => {
      const { id, slot } = await begin((engine) => engine.beginSnapshot());
      try {
        return await take(slot, this.#parts(id));
      } finally {
        this.#end(id);
      }
    });
  }

  /** The event loop gets its turn between two parts. */
  async *#parts(id: number): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const part = this.#replica.use((engine) => engine.snapshotPart(id));
      if (part === undefined) return;
      yield part.bytes;
      if (part.isLast) return;
      await nextTurn();
    }
  }

  #end(id: number): void {
    try {
      this.#replica.use((engine) => engine.endSnapshot(id));
    } catch {
      // The engine crashed or was given back, and the copy with it.
    }
  }
}
