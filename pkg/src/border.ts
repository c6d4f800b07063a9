/**
 * One call over the engine's border: how requests get there, and what comes back.
 */

import type { Core } from '../wasm/fencepost.js';
import { type ErrorCode, FencepostError } from './errors.js';
import { Packer } from './packing.js';
import { ReplyReader } from './records.js';
import type { Outcome, Refused } from './requests.js';

const REFUSED = -1;
const FAILED = -2;
/** What the engine reserves for replies from the start: as in `src/wasm/writer.rs`. */
const REPLY_BYTES_MIN = 64 << 10;
const NOTHING: Uint8Array = new Uint8Array();
const NO_VIEW = new DataView(new ArrayBuffer(0));

/** The static side of the engine's class. */
export interface CoreClass {
  checkName(argument: string, family: number, text: string): void;
  crashReport(): { message?: string };
}

/** What every group of operations is built on. */
export abstract class Border {
  protected readonly core: Core;
  protected readonly class: CoreClass;
  protected readonly packer: Packer;
  readonly #memory: WebAssembly.Memory;
  readonly #crash: { message?: string };
  readonly #reader = new ReplyReader();
  #bytes = NOTHING;
  #view = NO_VIEW;
  #replyAt = 0;
  /** The reply region stays where it is while no reply is larger than any before. */
  #replyBytesMax = -1;

  constructor(core: Core, coreClass: CoreClass, memory: WebAssembly.Memory) {
    this.core = core;
    this.class = coreClass;
    this.packer = new Packer(core, memory);
    this.#memory = memory;
    this.#crash = coreClass.crashReport();
  }

  get crashMessage(): string | undefined {
    return this.#crash.message;
  }

  /** The reply where it lies: to be read before the next call writes over it. */
  protected reply(size: number): ReplyReader {
    const at = this.#locate(size);
    return this.#reader.reset(this.#bytes, this.#view, at, at + Math.max(0, size));
  }

  /** The reply's bytes, copied out. */
  protected bytes(size: number): Uint8Array {
    const at = this.#locate(size);
    return size > 0 ? this.#bytes.slice(at, at + size) : NOTHING;
  }

  #locate(size: number): number {
    if (size === FAILED) throw engineError(this.core.takeAnswer());
    if (size > this.#replyBytesMax) {
      this.#replyAt = this.core.replyAt();
      this.#replyBytesMax = Math.max(size, REPLY_BYTES_MIN);
    }
    // The trap: views die when the memory grows, which any call may do.
    if (this.#bytes.length === 0) {
      this.#bytes = new Uint8Array(this.#memory.buffer);
      this.#view = new DataView(this.#memory.buffer);
    }
    return this.#replyAt;
  }

  protected outcome<T>(size: number, read: (reply: ReplyReader) => T): Outcome<T> {
    if (size === REFUSED) return this.core.takeAnswer() as Refused;
    return { ok: true, value: read(this.reply(size)) };
  }

  /** Runs a call that throws the engine's errors as plain objects. */
  protected thrown<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw engineError(error);
    }
  }
}

/** An error object of the engine as the package's error; anything else as it is. */
export function engineError(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof Error) return thrown;
  const { code, message, details } = thrown as {
    code: ErrorCode;
    message: string;
    details: Record<string, unknown>;
  };
  return new FencepostError(code, message, { details });
}
