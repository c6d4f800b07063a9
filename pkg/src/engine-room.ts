/** Bytes of the host's that entries are written to, one over the other. */
import { byteLengthOf, viewBytes } from './arguments.js';
import type { EntryRoom } from './requests.js';

/** A power of two. */
const VIEWS = 64;

export class Room implements EntryRoom {
  readonly #given: unknown;
  /** A view of its own: what the host's has for properties is not asked. */
  readonly #bytes: Uint8Array;
  /** Of the beginning, by their length: a view takes longer to make than an entry to copy. */
  readonly #views: Uint8Array[] = [];

  /** @throws FencepostError `INVALID_ARGUMENT` when they are no bytes, or were given away */
  constructor(argument: string, given: unknown) {
    this.#bytes = viewBytes(argument, given);
    this.#given = given;
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** Whether it is still the room that these bytes are: they may have grown or been given away. */
  isOf(given: unknown): boolean {
    const size = this.#bytes.length;
    return given === this.#given && size > 0 && byteLengthOf(given) === size;
  }

  /** Writes an entry that fits, and answers the view of it. */
  fill(entry: Uint8Array): Uint8Array {
    this.#bytes.set(entry);
    const { length } = entry;
    const place = length & (VIEWS - 1);
    const before = this.#views[place];
    if (before?.length === length) return before;
    const view = this.#bytes.subarray(0, length);
    this.#views[place] = view;
    return view;
  }
}
