/**
 * Loads the engine: compiled once per source, lazily; every store has an instance of its own, so
 * that a crash is one store's, and its memory goes when the store does.
 */

import { instantiate } from '../wasm/fencepost.js';
import { engineError } from './border.js';
import { WasmBridge } from './bridge.js';
import { FencepostError, shown } from './errors.js';
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
}

/** A compiled engine, of which any number of instances can be made. */
export interface EngineModule {
  create(options: EngineOptions): Bridge;
}

/** Where the engine comes from, when not from beside this file. */
export type WasmSource = WebAssembly.Module | BufferSource | URL | Response | Promise<Response>;

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
let ownModule: Promise<EngineModule> | undefined;

/**
 * The engine from `source`, or from beside this file.
 *
 * @throws FencepostError `INVALID_ARGUMENT` when what arrives is not WebAssembly, with where it
 * came from and its first bytes
 */
export function loadEngine(source?: WasmSource): Promise<EngineModule> {
  if (source !== undefined) return compile(source).then(engineOf);
  ownModule ??= compile(new URL('../wasm/fencepost_bg.wasm', import.meta.url)).then(engineOf);
  ownModule.catch(() => {
    ownModule = undefined;
  });
  return ownModule;
}

function engineOf(module: WebAssembly.Module): EngineModule {
  return {
    create({ store, seed, replica, maxPayloadBytes }) {
      const { Core, memory } = instantiate(module);
      try {
        const core = new Core(store, seed, replica, maxPayloadBytes);
        return new WasmBridge(core, Core, memory);
      } catch (error) {
        throw engineError(error);
      }
    },
  };
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof URL) {
    return source.protocol === 'file:'
      ? compileBytes(await readFile(source), source.href)
      : compileResponse(await fetch(source));
  }
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) {
    return compileBytes(bytesOf(source), 'the given bytes');
  }
  return compileResponse(await source);
}

async function readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await import('node:fs/promises');
  return new Uint8Array(await readFile(url));
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const from = response.url || 'the given response';
  if (!response.ok) throw notWasm(from, `HTTP status ${response.status}`);
  return compileBytes(new Uint8Array(await response.arrayBuffer()), from);
}

function compileBytes(bytes: Uint8Array<ArrayBuffer>, from: string): Promise<WebAssembly.Module> {
  if (MAGIC.some((byte, position) => bytes[position] !== byte)) {
    const first = new TextDecoder('latin1').decode(bytes.subarray(0, 16));
    throw notWasm(from, `bytes that begin with ${shown(first)}`);
  }
  return WebAssembly.compile(bytes);
}

function bytesOf(source: BufferSource): Uint8Array<ArrayBuffer> {
  const view = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  return new Uint8Array(view);
}

function notWasm(from: string, got: string): FencepostError {
  return new FencepostError(
    'INVALID_ARGUMENT',
    `wasm: expected WebAssembly at ${from}, got ${got}`,
    {
      details: { argument: 'wasm', from },
    },
  );
}
