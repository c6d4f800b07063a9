/**
 * The time for which a claim or a lease is held, kept from ending: renewed at a third of its
 * length, and after a failure again, with growing pauses, for as long as it lasts.
 *
 * **Invariant**: when it ended before it could be renewed, that is told, and it is not renewed any
 * more, although the engine might still allow it.
 */
import { pauseAfter } from './failure.js';

export interface TenureParts {
  /** How long it lasts without being renewed, in milliseconds. */
  readonly length: number;
  /** When it ends as things are: the first instant, in the log's time, at which it is not held. */
  ends(): number;
  /** Whether it is to be kept at all. */
  isWanted(): boolean;
  /** The log's time. */
  now(): number;
  /** Moves the end. Rejects when that could not be tried. */
  renew(): Promise<unknown>;
  /** It ended. */
  onLapse(): void;
  onError(error: unknown): void;
  /** Another care than before is due. */
  onChange(): void;
}

export class Tenure {
  readonly #parts: TenureParts;
  #isRenewing = false;
  #failures = 0;
  #retryAt = 0;

  constructor(parts: TenureParts) {
    this.#parts = parts;
  }

  /** When it next needs care, in the log's time; `Infinity`: not as things are. */
  get careAt(): number {
    if (!this.#parts.isWanted()) return Infinity;
    const { length } = this.#parts;
    const ends = this.#parts.ends();
    if (this.#isRenewing) return ends;
    if (this.#failures > 0) return Math.min(ends, this.#retryAt);
    return ends - length + Math.max(1, Math.floor(length / 3));
  }

  /** Renews it, or sees that it ended. */
  care(): void {
    if (!this.#parts.isWanted()) return;
    if (this.#parts.now() >= this.#parts.ends()) this.#parts.onLapse();
    else if (!this.#isRenewing) void this.#renew();
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true;
    try {
      await this.#parts.renew();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#retryAt = this.#parts.now() + pauseAfter(this.#failures);
      this.#parts.onError(error);
    }
    this.#isRenewing = false;
    this.#parts.onChange();
  }
}
