/**
 * One call over the engine's border: how requests get there, and what comes back.
 */

import type { Core } from '../wasm/fencepost.js';
import { readAnswer } from './answers.js';
import { FencepostError } from './errors.js';
import { Packer } from './packing.js';
import { ReplyReader } from './records.js';
import type { Moment, Outcome } from './requests.js';

/** What the engine reserves for replies from the start: as in `src/wasm/writer.rs`. */
const REPLY_BYTES_MIN = 64 << 10;
/** What was larger is given back before the next one: as in `src/wasm/writer.rs`. */
const REPLY_BYTES_KEPT = 4 << 20;
/** For operations that take neither time nor a caller. */
const ANY_TIME: Moment = { now: 0, caller: 0 };

/** What every group of operations is built on. */
export abstract class Border {
  protected readonly packer: Packer;
  readonly #core: Core;
  readonly #memory: WebAssembly.Memory;
  readonly #crashAt: number;
  readonly #reader = new ReplyReader();
  #bytes: Uint8Array = new Uint8Array();
  #replyAt = 0;
  /** The reply region stays where it is while no reply is larger than any before. */
  #replyBytesMax = -1;

  constructor(core: Core, crashAt: number, memory: WebAssembly.Memory) {
    this.packer = new Packer(core, memory);
    this.#core = core;
    this.#memory = memory;
    this.#crashAt = crashAt;
  }

  get crashMessage(): string | undefined {
    const { buffer } = this.#memory;
    const at = this.#crashAt;
    const reader = new ReplyReader();
    const words = reader.over(new Uint8Array(buffer), new DataView(buffer)).reset(at, at).text();
    return words || undefined;
  }

  free(): void {
    this.#core.free();
  }

  /**
   * Runs an operation on what was packed. Its reply is read where it lies, before the next call
   * writes over it.
   */
  protected call(operation: number, at: Moment = ANY_TIME): ReplyReader {
    if (this.#run(operation, at) < 0) throw readAnswer(this.#reader);
    return this.#reader;
  }

  /** The same for an operation that may be refused. */
  protected outcome<T>(operation: number, at: Moment, read: (reply: ReplyReader) => T): Outcome<T> {
    if (this.#run(operation, at) >= 0) return { ok: true, value: read(this.#reader) };
    const answer = readAnswer(this.#reader);
    if (answer instanceof FencepostError) throw answer;
    return answer;
  }

  /** Leaves the reader at the reply. A negative size is that of an error or a refusal. */
  #run(operation: number, { now, caller }: Moment): number {
    const answered = this.#core.call(operation, this.packer.size, now, caller);
    const size = Math.abs(answered);
    // What failed may have begun a larger reply, and what was too large is given back.
    if (answered < 0 || size > this.#replyBytesMax || this.#replyBytesMax > REPLY_BYTES_KEPT) {
      if (this.#replyBytesMax > REPLY_BYTES_KEPT) this.#replyBytesMax = -1;
      this.#replyAt = this.#core.replyAt();
      this.#replyBytesMax = Math.max(size, this.#replyBytesMax, REPLY_BYTES_MIN);
    }
    // The trap: views die when the memory grows, which any call may do.
    if (this.#bytes.length === 0) {
      const { buffer } = this.#memory;
      this.#bytes = new Uint8Array(buffer);
      this.#reader.over(this.#bytes, new DataView(buffer));
    }
    this.#reader.reset(this.#replyAt, this.#replyAt + size);
    return answered;
  }
}
