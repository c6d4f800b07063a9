/**
 * Compiles the engine; where it comes from is the matter of a platform. Every store has an instance
 * of its own, so that a crash is one store's, and its memory goes when the store does.
 *
 * **Invariant**: nothing but an engine comes out of here. Whatever else arrived is
 * `INVALID_ARGUMENT`, with where it came from and how it begins.
 */

import { instantiate } from '../wasm/fencepost.js';
import { WasmBridge } from './bridge.js';
import { FencepostError, shown } from './errors.js';
import { host, latin1, unsupported } from './host.js';
import { isError, messageOf } from './realm.js';
import type { Bridge } from './requests.js';

/** How an engine starts. */
export interface EngineOptions {
  /** The store's name, for a log that is founded by this engine. */
  readonly store: string;
  /** Of the generator behind jitter. Default: random. */
  readonly seed?: bigint | undefined;
  /** Unique among the open replicas of a log: a whole number below 2^53. Default: random. */
  readonly replica?: number | undefined;
  /** Default 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** What the rows may weigh. Default 1.25 GiB; a simulation sets less. */
  readonly maxStoreBytes?: number | undefined;
}

/** A compiled engine, of which any number of instances can be made. */
export interface EngineModule {
  create(options: EngineOptions): Bridge;
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d];

/**
 * Work that is done once, when it is first asked for. Of a failure nothing is kept: the next one
 * who asks tries again.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** The engine in a compiled module: whether it is one shows when it is used. */
export function engineOf(module: object): EngineModule {
  return {
    create({ store, seed, replica, maxPayloadBytes = Number.NaN, maxStoreBytes = Number.NaN }) {
      const bridge = bridgeTo(module);
      const [random = 0n, number = 0n] = randomNumbers();
      bridge.start({
        store,
        seed: seed ?? random,
        replica: replica ?? Number(number >> 11n),
        maxPayloadBytes,
        maxStoreBytes,
      });
      return bridge;
    },
  };
}

/** A Worker has none at the top of its module, and no timer and no storage either. */
function randomNumbers(): BigUint64Array {
  try {
    return host('crypto').getRandomValues(new BigUint64Array(2));
  } catch (cause) {
    if (cause instanceof FencepostError) throw cause;
    const advice = "at the top of a Worker's module no store can be opened: open it in a handler";
    throw unsupported(`this runtime gives no random numbers here; ${advice}`, {}, cause);
  }
}

/** `from`: where they come from, for a message. */
export async function engineOfBytes(bytes: Uint8Array, from: string): Promise<EngineModule> {
  if (MAGIC.some((byte, position) => bytes[position] !== byte)) {
    const first = latin1(bytes.subarray(0, 16));
    const got = bytes.length === 0 ? 'no bytes' : `bytes that begin with ${shown(first)}`;
    throw wrong(`WebAssembly at ${from}`, got, { from });
  }
  const compiler = host('WebAssembly');
  try {
    return engineOf(await compiler.compile(bytes as Uint8Array<ArrayBuffer>));
  } catch (cause) {
    const advice = 'where code may not be compiled, pass a WebAssembly.Module';
    throw wrong(`WebAssembly at ${from} that compiles here`, `${messageOf(cause)} (${advice})`, {
      from,
      cause,
    });
  }
}

/** The engine behind a URL. */
export async function fetchedEngine(url: URL): Promise<EngineModule> {
  return engineOfResponse(await arrived(url.href, () => host('fetch')(url)));
}

export async function engineOfResponse(response: Response): Promise<EngineModule> {
  const from = response.url || 'the given response';
  if (!response.ok) {
    throw wrong(`WebAssembly at ${from}`, `HTTP status ${response.status}`, { from });
  }
  const bytes = await arrived(from, () => response.arrayBuffer());
  return engineOfBytes(new Uint8Array(bytes), from);
}

/** What comes from `from`; what hinders it is told with the place. */
export async function arrived<T>(from: string, reach: () => Promise<T>): Promise<T> {
  try {
    return await reach();
  } catch (cause) {
    throw wrong(`WebAssembly at ${from}`, messageOf(cause), { from, cause });
  }
}

/** @throws FencepostError `ENGINE_CRASHED` where there is not even the memory to begin with */
function bridgeTo(module: object): WasmBridge {
  try {
    const { Core, memory } = instantiateChecked(module);
    return new WasmBridge(new Core(), Core.crashAt(), memory);
  } catch (cause) {
    if (!isNamed(cause, 'RangeError', 'RuntimeError')) throw cause;
    const what = `the engine crashed when it was made: ${messageOf(cause)}`;
    throw new FencepostError('ENGINE_CRASHED', what, { cause });
  }
}

/** A module of something else, or of another version, does not fit the imports of this one. */
function instantiateChecked(module: object): ReturnType<typeof instantiate> {
  const own = { TextDecoder: host('TextDecoder'), WebAssembly: host('WebAssembly') };
  try {
    return instantiate(module, own);
  } catch (cause) {
    if (!isNamed(cause, 'LinkError', 'TypeError')) throw cause;
    const expected = 'the engine of this very version of the package';
    throw wrong(expected, `another module: ${messageOf(cause)}`, { cause });
  }
}

/** The errors of WebAssembly are those of the realm that it runs in. */
function isNamed(thrown: unknown, ...names: string[]): boolean {
  return isError(thrown) && names.includes(thrown.name);
}

/** What came for the option `wasm`, or instead of the package's own engine. */
export function wrong(
  expected: string,
  got: string,
  { from, cause }: { from?: string; cause?: unknown } = {},
): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `wasm: expected ${expected}, got ${got}`, {
    details: { argument: 'wasm', ...(from !== undefined && { from }) },
    cause,
  });
}
