/**
 * Hands the events of what is merged to whoever listens.
 *
 * **Invariant**: each listener is told of a command once, whole, and in the order of the log; or a
 * `gap` says up to which version it was not. That holds over a crash of the engine: a new one
 * records again what the journal still has and the listener was not told.
 *
 * **Cost**: nothing is recorded while nobody listens.
 */
import type { Bridge, CallerRequest } from './requests.js';
import type { StoreEvent } from './types.js';

export interface Listener {
  /** Who is told: only what may be inspected. */
  readonly caller: CallerRequest | undefined;
  /** The version up to which it was told. */
  told: number;
  take(events: StoreEvent[]): void;
}

export class Feed {
  readonly #listeners = new Set<Listener>();

  add(listener: Listener, engine: Bridge | undefined): void {
    this.#listeners.add(listener);
    engine?.recordEvents(listener.told);
  }

  remove(listener: Listener, engine: Bridge | undefined): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) engine?.stopRecording();
  }

  /**
   * An engine that takes the place of another one, before anything is merged into it. `version`:
   * what the other one has merged. Who comes while it is filled has been told of that.
   */
  adopt(engine: Bridge, version: number): void {
    engine.recordEvents(Math.min(version, ...[...this.#listeners].map(({ told }) => told)));
  }

  /** It has taken the place. */
  adopted(engine: Bridge): void {
    if (this.#listeners.size === 0) engine.stopRecording();
  }

  /** Everything up to `version` is merged. */
  tell(engine: Bridge, version: number, numberOf: (caller?: CallerRequest) => number): void {
    if (this.#listeners.size === 0) return;
    for (const listener of this.#listeners) {
      const { told } = listener;
      const events = engine.events(numberOf(listener.caller));
      listener.told = Math.max(told, version);
      listener.take(events.filter((event) => event.version > told));
    }
    engine.forgetEvents();
  }
}
