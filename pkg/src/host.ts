/**
 * What is used of the host besides the language itself. A sandbox, a test environment or an old
 * browser may lack some of it.
 *
 * **Invariant**: importing the package fails nowhere. What is missing is asked of Node's modules,
 * which a sandbox in Node hides, and else told by name when it is needed.
 */
import { FencepostError } from './errors.js';

/** Where Node has it besides. */
const IN_NODE = {
  AbortController: null,
  DecompressionStream: ['node:stream/web', 'DecompressionStream'],
  TextDecoder: ['node:util', 'TextDecoder'],
  TextEncoder: ['node:util', 'TextEncoder'],
  WebAssembly: null,
  atob: ['node:buffer', 'atob'],
  crypto: ['node:crypto', 'webcrypto'],
  fetch: null,
} as const;

type Used = keyof typeof IN_NODE;

interface Node {
  getBuiltinModule?(name: string): Record<string, unknown> | undefined;
}

/**
 * A global by its name. `advice`: what whoever has none can do instead.
 *
 * @throws FencepostError `UNSUPPORTED_HOST` where there is none
 */
export function host<Name extends Used>(
  name: Name,
  advice = 'Fencepost needs it',
): (typeof globalThis)[Name] {
  const found = globalThis[name] ?? inNode(name);
  if (found !== undefined) return found as (typeof globalThis)[Name];
  throw unsupported(`this runtime has no ${name}; ${advice}`, { missing: name });
}

/** What every store needs sooner or later, so that `open` fails and not a handler in the night. */
export function requireHost(): void {
  for (const name of ['AbortController', 'TextDecoder', 'TextEncoder', 'crypto'] as const) {
    host(name);
  }
}

function inNode(name: Used): unknown {
  const place = IN_NODE[name];
  const { process } = globalThis as { process?: Node };
  return place === null ? undefined : process?.getBuiltinModule?.(place[0])?.[place[1]];
}

export function unsupported(
  message: string,
  details: Readonly<Record<string, unknown>>,
  cause?: unknown,
): FencepostError {
  return new FencepostError('UNSUPPORTED_HOST', message, { details, cause });
}

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

export function textEncoder(): TextEncoder {
  encoder ??= new (host('TextEncoder'))();
  return encoder;
}

/** For UTF-8, whose byte order mark is a character like any other. */
export function textDecoder(): TextDecoder {
  decoder ??= new (host('TextDecoder'))('utf-8', { ignoreBOM: true });
  return decoder;
}

/** Bytes as a person may read them, one character for each. */
export function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Edge workers have a navigator, too, which says so. */
export function isEdgeWorker(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}

/** Milliseconds that pass. A host without them has the time of day, which somebody may set. */
export function monotonicNow(): number {
  return (globalThis.performance ?? Date).now();
}
