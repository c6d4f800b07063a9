/** How a store is opened. */
import type { FencepostError } from '../errors.js';
import type { Journal } from '../journal/journal.js';
import type { Queues } from './declared.js';

/** Where time comes from. All three must belong together. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds since some fixed moment; never runs backwards. */
  monotonic(): number;
  /** Calls `fn` once after `ms`, unless cancelled. Must not call it before it returns. */
  setTimer(ms: number, fn: () => void): { cancel(): void };
}

/**
 * A compiled module, bytes, or where they come from. The first is an `object` here: the name
 * `WebAssembly.Module` is known to projects with a browser's types only.
 */
export type WasmSource =
  | object
  | ArrayBuffer
  | ArrayBufferView
  | URL
  | Response
  | Promise<Response>;

/** How `open` opens a store. */
export interface OpenOptions<Q extends Queues = Queues> {
  /**
   * Where the log is kept. Default: IndexedDB in browsers and their workers; a file journal under
   * `./.fencepost/<name>` in Node, Deno and Bun. Where the runtime has no default, `open` rejects
   * with `INVALID_ARGUMENT` and says so.
   */
  journal?: Journal;
  /**
   * What "committed" survives. `strict` (default): a loss of power. `relaxed`: a killed process.
   */
  durability?: 'strict' | 'relaxed';
  /** The largest payload, result or value in bytes, encoded. Default 1 MiB; 1 to 8 MiB. */
  maxPayloadBytes?: number;
  /** Default: the clocks and timers of the runtime. */
  clock?: Clock;
  /** Makes jitter repeatable, for tests. 0 to 2^64 - 1. Default: random. */
  seed?: bigint;
  /** Where the engine comes from. Default: what the package brings, as its runtime takes it. */
  wasm?: WasmSource;
  /** Bounds every journal operation, in milliseconds. Default 30 000; 1 to 2^31 - 1. */
  timeout?: number;
  /** Refuses (`LOG_REPLACED`) to open another log than the one with this id. */
  expectLogId?: string;
  /** A `snapshot()` to start from. Only on an empty journal. */
  restore?: Uint8Array;
  /**
   * Queues by their names, each made by `queue()`: their stamps and codecs hold wherever no handle
   * says otherwise (follow-ups, transactions; of schedules the stamps), and their types everywhere.
   * A handle's own options go before them. Other queues may be used as well. Default: none.
   *
   * ```ts
   * const store = await open('app', { queues: { mail: queue<Mail>({ maxAttempts: 5 }) } })
   * ```
   */
  queues?: Q;
  /**
   * Called with what goes wrong where nobody waits for it: a schedule that this runtime cannot fire
   * (`INVALID_SCHEDULE`, once for each, with `details.schedule`). A worker has an `onError` of its
   * own. What it throws is ignored.
   */
  onError?: (error: FencepostError) => void;
}
