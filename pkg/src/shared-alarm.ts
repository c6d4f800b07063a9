/**
 * The one alarm of a Durable Object, shared by the store and by the object itself: it is set for
 * whichever comes first.
 *
 * **Invariant**: an alarm that the object set past this class is found at the next look and kept:
 * what was set here is remembered, and anything else is the object's own.
 */
import type { DurableObjectContext } from './journal/durable-object.js';

const KEY = 'fencepost:alarm';
const NOTHING: Shared = { store: null, own: null, set: null, idleRings: 0 };

/** All instants in milliseconds since the Unix epoch; null: none. */
interface Shared {
  /** When the store has work. */
  readonly store: number | null;
  /** The object's own alarm. */
  readonly own: number | null;
  /** For when the alarm was set last. */
  readonly set: number | null;
  /** How many rings in a row found work due and nobody who took it. */
  readonly idleRings: number;
}

export class SharedAlarm {
  readonly #storage: DurableObjectContext['storage'];

  constructor({ storage }: DurableObjectContext) {
    this.#storage = storage;
  }

  /** What is known now, with what the object may have done past this. `rang`: the alarm rings. */
  async look(rang: { at?: number } | null = null): Promise<Shared> {
    const known = {
      ...NOTHING,
      ...((await this.#storage.get(KEY)) as Partial<Shared> | undefined),
    };
    const pending = await this.#storage.getAlarm();
    const seen = rang?.at ?? pending;
    if (seen !== null && seen !== known.set) return { ...known, own: seen };
    const wasDeleted = rang === null && pending === null && (known.set ?? 0) > Date.now();
    if (wasDeleted && known.set === known.own) return { ...known, own: null };
    return known;
  }

  /** Remembers it, and sets the alarm for what comes first. */
  async write(shared: Shared): Promise<number | null> {
    const { store, own, idleRings } = shared;
    const first = Math.min(store ?? Infinity, own ?? Infinity);
    // The trap: an alarm in the past may never ring.
    const set = first === Infinity ? null : Math.max(first, Date.now() + 1);
    const kept = { store, own: own === null ? null : first === own ? set : own, set, idleRings };
    await this.#storage.put(KEY, kept);
    if (set === (await this.#storage.getAlarm())) return set;
    if (set === null) await this.#storage.deleteAlarm();
    else await this.#storage.setAlarm(set);
    return set;
  }
}
