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
const NOTHING: Uint8Array = new Uint8Array();

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
  #seen = NOTHING;

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

  /** The reply's bytes, copied out: the region is written over by the next call. */
  protected bytes(size: number): Uint8Array {
    if (size === FAILED) throw engineError(this.core.takeAnswer());
    if (size <= 0) return NOTHING;
    const at = this.core.replyAt();
    // The trap: views die when the memory grows, which any call may do.
    if (this.#seen.buffer !== this.#memory.buffer) this.#seen = new Uint8Array(this.#memory.buffer);
    return this.#seen.slice(at, at + size);
  }

  protected reply(size: number): ReplyReader {
    return new ReplyReader(this.bytes(size));
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
