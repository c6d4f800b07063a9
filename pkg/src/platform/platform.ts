/** What differs between runtimes, and nothing else. */
import type { AsyncHooks } from '../context.js';
import { FencepostError, shown } from '../errors.js';
import type { Journal } from '../journal/journal.js';
import {
  arrived,
  type EngineModule,
  engineOf,
  engineOfBytes,
  engineOfResponse,
  wrong,
} from '../load.js';
import { isBuffer, isModule, isUrl } from '../realm.js';

export interface Platform {
  /** The engine that the package brings: compiled when first asked for, then the same for all. */
  readonly engine: () => Promise<EngineModule>;
  /** The engine behind a URL. */
  readonly engineAt: (url: URL) => Promise<EngineModule>;
  /**
   * Where a store is kept when nobody says otherwise.
   *
   * @throws FencepostError `INVALID_ARGUMENT` where there is no such place
   */
  readonly journal: () => Journal;
  /** Default: what the runtime shows without an import. */
  readonly hooks?: AsyncHooks;
}

/**
 * The engine from `source`, or the one that the package brings.
 *
 * @throws FencepostError `INVALID_ARGUMENT` when what arrives is not this engine, with where it
 * came from and its first bytes
 */
export async function loadEngine(platform: Platform, source: unknown): Promise<EngineModule> {
  if (source === undefined) return platform.engine();
  if (isModule(source)) return engineOf(source);
  if (isSource(source)) return engineOfBytes(bytesOf(source), 'the given bytes');
  if (isUrl(source)) return platform.engineAt(source);
  const response: unknown = await arrived('the given promise', async () => source);
  if (isResponse(response)) return engineOfResponse(response);
  const expected = 'a WebAssembly.Module, bytes, a URL, a Response or the promise of one';
  throw wrong(expected, response === source ? shown(source) : `a promise of ${shown(response)}`);
}

/** Where a platform has no journal. `advice`: what to pass instead. */
export function noJournal(advice: string): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `journal: this runtime has no default; ${advice}`, {
    details: { argument: 'journal' },
  });
}

function isSource(source: unknown): source is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(source) || isBuffer(source);
}

function isResponse(value: unknown): value is Response {
  return typeof (value as Response | null)?.arrayBuffer === 'function';
}

/** A copy: the caller may go on writing to what was given. */
function bytesOf(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const view = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  return new Uint8Array(view);
}
