/**
 * Packs requests into the engine's memory, in the packing that `src/wasm/reader.rs` reads: numbers
 * are 8 bytes, little-endian (`NaN`: absent); texts and bytes have their length before them (all
 * ones: absent); a name has the byte of its family before it.
 *
 * **Cost**: no object is made per request. Short ASCII texts are copied by a loop, which beats
 * `TextEncoder.encodeInto` in Chromium and is as good in Node.
 */

import { FencepostError } from './errors.js';
import { textEncoder } from './host.js';
import type { FullName } from './requests.js';

/** The part of the engine that the packer needs: room for a request, and where it lies. */
export interface Scratch {
  scratchAt(bytes: number): number;
}

const ABSENT = 0xffff_ffff;
const SCRATCH_BYTES_MIN = 64 << 10;
/** What was larger once is given back before the next request. */
const SCRATCH_BYTES_KEPT = 4 << 20;
/** More than an entry holds. What is refused here has cost the engine no more memory than this. */
const REQUEST_BYTES_MAX = 64 << 20;
const LOOPED_CHARS_MAX = 64;

export class Packer {
  readonly #scratch: Scratch;
  readonly #memory: WebAssembly.Memory;
  #view: DataView;
  #bytes: Uint8Array;
  #start = 0;
  #capacity = 0;
  #at = 0;

  constructor(scratch: Scratch, memory: WebAssembly.Memory) {
    this.#scratch = scratch;
    this.#memory = memory;
    this.#view = new DataView(memory.buffer);
    this.#bytes = new Uint8Array(memory.buffer);
  }

  /** Starts a request. */
  begin(): this {
    const capacity = this.#capacity;
    if (capacity === 0 || capacity > SCRATCH_BYTES_KEPT) this.#resize(SCRATCH_BYTES_MIN);
    // The trap: views die when the memory grows, which any call into the engine may do.
    if (this.#bytes.length === 0) this.#look();
    this.#at = this.#start;
    return this;
  }

  /** How many bytes the request has so far. */
  get size(): number {
    return this.#at - this.#start;
  }

  byte(value: number): this {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
    return this;
  }

  flag(value: boolean): this {
    return this.byte(value ? 1 : 0);
  }

  count(value: number): this {
    this.#reserve(4);
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
    return this;
  }

  number(value: number): this {
    this.#reserve(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
    return this;
  }

  /** The 64 bits of a seed. */
  bits(value: bigint): this {
    this.#reserve(8);
    this.#view.setBigUint64(this.#at, value, true);
    this.#at += 8;
    return this;
  }

  /** The last of a request: an entry or a snapshot, however large it is. */
  rest(value: Uint8Array): this {
    const needed = this.size + value.length;
    if (needed > this.#capacity) this.#resize(needed);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  blob(value: Uint8Array | undefined): this {
    if (value === undefined) return this.count(ABSENT);
    this.#reserve(4 + value.length);
    this.count(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  text(value: string | undefined): this {
    if (value === undefined) return this.count(ABSENT);
    this.#reserve(4 + 3 * value.length);
    const start = this.#at + 4;
    let end = this.#loop(value, start);
    if (end < 0) end = start + textEncoder().encodeInto(value, this.#bytes.subarray(start)).written;
    this.#view.setUint32(this.#at, end - start, true);
    this.#at = end;
    return this;
  }

  name(value: FullName): this {
    return this.byte(value.family).text(value.text);
  }

  /** Copies a short ASCII text and tells where it ends; -1 when it is neither. */
  #loop(value: string, start: number): number {
    const { length } = value;
    if (length > LOOPED_CHARS_MAX) return -1;
    const bytes = this.#bytes;
    for (let position = 0; position < length; position++) {
      const code = value.charCodeAt(position);
      if (code > 0x7f) return -1;
      bytes[start + position] = code;
    }
    return start + length;
  }

  #reserve(bytes: number): void {
    const needed = this.size + bytes;
    if (needed <= this.#capacity) return;
    if (needed > REQUEST_BYTES_MAX) throw tooLarge(needed);
    this.#resize(Math.min(REQUEST_BYTES_MAX, Math.max(needed, 2 * this.#capacity)));
  }

  #resize(capacity: number): void {
    const { size } = this;
    this.#start = this.#scratch.scratchAt(capacity);
    this.#capacity = capacity;
    this.#look();
    this.#at = this.#start + size;
  }

  #look(): void {
    this.#view = new DataView(this.#memory.buffer);
    this.#bytes = new Uint8Array(this.#memory.buffer);
  }
}

function tooLarge(size: number): FencepostError {
  const limit = REQUEST_BYTES_MAX;
  const message = `request: expected at most ${limit} bytes, got ${size}`;
  return new FencepostError('LIMIT_EXCEEDED', message, {
    details: { argument: 'request', size, limit },
  });
}
