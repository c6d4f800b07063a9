/**
 * Tells what a value is, whichever realm made it: a frame, a test environment and an edge sandbox
 * have a `Date`, a `Uint8Array` and an `Error` of their own, of which `instanceof` knows nothing.
 *
 * **Invariant**: a value is told by what it is inside, past its prototype and its own properties,
 * where the language has a way to ask; else by its tag.
 */
import { shown } from './errors.js';

const tagOfBytes = getterOf(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const lengthOfBuffer = getterOf(ArrayBuffer.prototype, 'byteLength');
const { getTime } = Date.prototype;

/** A getter of the language's own, asked past whatever a value says of itself. */
export function getterOf(prototype: object, name: PropertyKey): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get ?? (() => undefined);
}

export function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return tagOfBytes.call(value) === 'Uint8Array';
}

export function isBuffer(value: unknown): value is ArrayBuffer {
  return asks(() => lengthOfBuffer.call(value)) !== undefined;
}

/** The milliseconds of a Date, NaN for one that is invalid; undefined for anything else. */
export function timeOf(value: unknown): number | undefined {
  return asks(() => getTime.call(value));
}

export function isModule(value: unknown): value is object {
  return tagOf(value) === '[object WebAssembly.Module]';
}

export function isUrl(value: unknown): value is URL {
  return tagOf(value) === '[object URL]' && typeof (value as URL).href === 'string';
}

export function isError(value: unknown): value is Error {
  const tag = tagOf(value);
  return tag === '[object Error]' || tag === '[object DOMException]' || value instanceof Error;
}

/** What was thrown, as far as it can be put into words. */
export function messageOf(thrown: unknown): string {
  return asks(() => String(isError(thrown) ? thrown.message : thrown)) ?? shown(thrown);
}

function tagOf(value: unknown): string | undefined {
  return asks(() => Object.prototype.toString.call(value));
}

/** The language refuses what is of another kind; a proxy may throw whatever it likes. */
function asks<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}
