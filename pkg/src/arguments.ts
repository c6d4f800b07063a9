/**
 * Checks of what users pass: every refusal names the argument, what was expected and what came.
 *
 * **Invariant**: options are read by their own keys only, once, and an unknown key is refused by
 * name, so that a typo is not silently ignored. `undefined` is absent; `null` is no number.
 */
import { FencepostError, quote, shown } from './errors.js';
import { getterOf, isBytes } from './realm.js';

export const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const SEED_MAX = 2n ** 64n - 1n;
/** The ceiling of `maxPayloadBytes`, and its default, which is also the engine's. */
const PAYLOAD_BYTES_MAX = 8 << 20;
const PAYLOAD_BYTES_DEFAULT = 1 << 20;

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);

/** What bytes are, asked past the user's own properties. */
const real = {
  buffer: getterOf(typedArray, 'buffer'),
  byteOffset: getterOf(typedArray, 'byteOffset'),
  byteLength: getterOf(typedArray, 'byteLength'),
};

export function invalid(argument: string, expected: string, got: string): FencepostError {
  return new FencepostError('INVALID_ARGUMENT', `${argument}: expected ${expected}, got ${got}`, {
    details: { argument },
  });
}

/** The options that were given, copied; none when `value` is undefined. */
export function readOptions<Name extends string>(
  argument: string,
  value: unknown,
  known: readonly Name[],
): { [name in Name]?: unknown } {
  if (value === undefined) return { __proto__: null } as { [name in Name]?: unknown };
  const options = copyOwn<Name>(argument, value);
  for (const name in options) {
    if (!isOneOf(known, name)) {
      const names = known.length === 0 ? 'no options' : `one of ${known.join(', ')}`;
      throw invalid(argument, names, `the unknown option ${quote(name)}`);
    }
  }
  return options;
}

function copyOwn<Name extends string>(argument: string, value: unknown) {
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid(argument, 'an object', shown(value));
    }
    // Without a prototype nothing is inherited. The order of this literal matters: one that begins
    // without a prototype is four times as slow to copy into.
    return { ...value, __proto__: null } as { [name in Name]?: unknown };
  } catch (error) {
    throw unreadable(argument, error);
  }
}

/** A getter, or a proxy, of the user's may throw whatever it likes. */
export function unreadable(argument: string, cause: unknown): FencepostError {
  if (cause instanceof FencepostError) return cause;
  const message = `${argument}: it threw when it was read`;
  return new FencepostError('INVALID_ARGUMENT', message, { details: { argument }, cause });
}

/** As `includes` does, which is a call where this is a few comparisons. */
function isOneOf(known: readonly string[], name: string): boolean {
  for (let at = 0; at < known.length; at++) if (known[at] === name) return true;
  return false;
}

/** A whole number in a range. */
export function requireWhole(
  argument: string,
  value: unknown,
  min: number,
  max = SAFE_MAX,
): number {
  if (Number.isSafeInteger(value)) {
    const number = value as number;
    if (number >= min && number <= max) return number === 0 ? 0 : number;
  }
  const range =
    max === SAFE_MAX
      ? min === -SAFE_MAX
        ? 'a whole number from -(2^53 - 1) to 2^53 - 1'
        : `a whole number from ${min} on`
      : `a whole number from ${min} to ${max}`;
  throw invalid(argument, range, shown(value));
}

/** The same, or `NaN` when it is absent: how absent numbers cross to the engine. */
export function optionalWhole(
  argument: string,
  value: unknown,
  min: number,
  max = SAFE_MAX,
): number {
  return value === undefined ? Number.NaN : requireWhole(argument, value, min, max);
}

/** A whole number from 0 on, or `Infinity`. */
export function optionalRetention(argument: string, value: unknown): number {
  if (value === undefined) return Number.NaN;
  if (value === Infinity) return Infinity;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalid(argument, 'a whole number from 0 on, or Infinity', shown(value));
}

export function optionalChoice<Choice extends string>(
  argument: string,
  value: unknown,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined || choices.includes(value as Choice)) return value as Choice | undefined;
  throw invalid(argument, `one of ${choices.map(quote).join(', ')}`, shown(value));
}

export function optionalFlag(argument: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(argument, 'true or false', shown(value));
}

export function requireText(argument: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalid(argument, 'a string', shown(value));
}

export function requireFunction(argument: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid(argument, 'a function', shown(value));
}

export function requireArray(argument: string, value: unknown, max?: number): unknown[] {
  try {
    return copyArray(argument, value, max);
  } catch (error) {
    throw unreadable(argument, error);
  }
}

function copyArray(argument: string, value: unknown, max: number | undefined): unknown[] {
  if (!Array.isArray(value)) throw invalid(argument, 'an array', shown(value));
  const { length } = value;
  if (max !== undefined && length > max) {
    const what = `${argument}: expected at most ${max}, got ${length}`;
    throw new FencepostError('LIMIT_EXCEEDED', what, {
      details: { argument, size: length, limit: max },
    });
  }
  // The trap: map() skips holes, and arrays of the user's own class may have another map().
  return Array.from({ length }, (_, index): unknown => value[index]);
}

/** A copy of bytes, which are as many as they are and not as many as they say. */
export function copyBytes(
  argument: string,
  value: unknown,
  expected = 'a Uint8Array',
): Uint8Array<ArrayBuffer> {
  // The trap: slice() of a Buffer is no copy.
  return ofBytes(argument, value, expected, (bytes) => new Uint8Array(bytes));
}

/** A plain view of bytes: what is written to it is written to them. */
export function viewBytes(argument: string, value: unknown): Uint8Array {
  return ofBytes(argument, value, 'a Uint8Array', (bytes) => {
    const buffer = real.buffer.call(bytes) as ArrayBuffer;
    return new Uint8Array(buffer, Number(real.byteOffset.call(bytes)), byteLengthOf(bytes));
  });
}

/** How many bytes there are, whatever they say. */
export function byteLengthOf(bytes: unknown): number {
  return Number(real.byteLength.call(bytes));
}

function ofBytes<T>(
  argument: string,
  value: unknown,
  expected: string,
  make: (bytes: Uint8Array) => T,
): T {
  if (!isBytes(value)) throw invalid(argument, expected, shown(value));
  try {
    return make(value);
  } catch {
    throw invalid(argument, expected, 'one whose buffer was given away');
  }
}

/** Bytes that are packed at once: copied only where they might say another length than theirs. */
export function readBytes(value: unknown, argument: string): Uint8Array {
  return isPlain(value) ? value : copyBytes(argument, value);
}

function isPlain(value: unknown): value is Uint8Array {
  if (!isBytes(value) || byteLengthOf(value) === 0) return false;
  // In this order for speed: behind hasOwn() the compiler no longer knows the object's shape, and
  // asking for its prototype becomes a call.
  const isOfNoOther = Object.getPrototypeOf(value) === Uint8Array.prototype;
  return isOfNoOther && !Object.hasOwn(value, 'length');
}

/** Also one of another realm, or of a library: whatever can do what is asked of it. */
export function optionalSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  try {
    const { aborted, addEventListener, removeEventListener, throwIfAborted } = (value ??
      {}) as Partial<Record<keyof AbortSignal, unknown>>;
    const calls = [addEventListener, removeEventListener, throwIfAborted];
    if (typeof aborted === 'boolean' && calls.every((call) => typeof call === 'function')) {
      return value as AbortSignal;
    }
  } catch (error) {
    throw unreadable('signal', error);
  }
  throw invalid('signal', 'an AbortSignal', shown(value));
}

/** Of the engine's generator: 0 to 2^64 - 1. */
export function optionalSeed(value: unknown): bigint | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'bigint' && value >= 0n && value <= SEED_MAX) return value;
  throw invalid('seed', 'a BigInt from 0 to 2^64 - 1', shown(value));
}

/** How large a payload may be: 1 byte to 8 MiB. */
export function readPayloadLimit(value: unknown): number {
  const limit = optionalWhole('maxPayloadBytes', value, 1, PAYLOAD_BYTES_MAX);
  return Number.isNaN(limit) ? PAYLOAD_BYTES_DEFAULT : limit;
}

/** What can be done about a payload that is too large. */
export const PAYLOAD_ADVICE =
  `: the option maxPayloadBytes of open(), at most ${PAYLOAD_BYTES_MAX}` as const;

/** Of what the engine does not measure by itself. @throws FencepostError `PAYLOAD_TOO_LARGE` */
export function requireSize(argument: string, bytes: Uint8Array, limit: number): void {
  const size = bytes.byteLength;
  if (size <= limit) return;
  const what = `${argument}: expected at most ${limit} bytes, got ${size}${PAYLOAD_ADVICE}`;
  throw new FencepostError('PAYLOAD_TOO_LARGE', what, { details: { argument, size, limit } });
}
