/**
 * Values as bytes: JSON that never changes what it is given, and codecs of the user's.
 *
 * **Invariant**: what comes back equals what went in, or it was refused with the path to the
 * culprit. The only liberties are JSON's own: undefined properties are left out, and -0 becomes 0.
 */

import { copyBytes, invalid, requireFunction, unreadable } from './arguments.js';
import { FencepostError, quote, shown } from './errors.js';
import { textDecoder, textEncoder } from './host.js';
import { requireName } from './names.js';
import type { Codec } from './types.js';

const LEVELS_MAX = 127;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** A checked codec. The built-in one has no name: its rows carry none. */
export interface RowCodec {
  readonly name: string | undefined;
  /** Bytes that are nobody else's. */
  encode(value: unknown, argument: string): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

export const JSON_CODEC: RowCodec = { name: undefined, encode: encodeJson, decode: decodeJson };

/** @throws FencepostError `INVALID_ARGUMENT`, with the path to what JSON would change */
export function encodeJson(value: unknown, argument: string): Uint8Array {
  try {
    return textEncoder().encode(write(value, { argument, path: [], ancestors: [] }));
  } catch (error) {
    throw unreadable(argument, error);
  }
}

export function decodeJson(bytes: Uint8Array): unknown {
  return JSON.parse(textDecoder().decode(bytes));
}

/** JSON bytes, or undefined for an absent value. */
export function optionalJson(value: unknown, argument: string): Uint8Array | undefined {
  return value === undefined ? undefined : encodeJson(value, argument);
}

/** The codec of a handle's options. */
export function readCodec(value: unknown): RowCodec {
  if (value === undefined) return JSON_CODEC;
  if (typeof value !== 'object' || value === null) {
    throw invalid('codec', 'an object with encode and decode', shown(value));
  }
  const given = value as Codec;
  const name = readCodecName(given);
  return {
    name: name === 'json' ? undefined : name,
    encode(payload, argument) {
      const expected = `a Uint8Array from the codec ${quote(name)}`;
      return copyBytes(argument, given.encode(payload), expected);
    },
    decode: (bytes) => given.decode(bytes),
  };
}

function readCodecName(codec: Partial<Codec>): string {
  try {
    requireFunction('codec.encode', codec.encode);
    requireFunction('codec.decode', codec.decode);
    return codec.name === undefined ? 'custom' : requireName('codec.name', codec.name);
  } catch (error) {
    throw unreadable('codec', error);
  }
}

/** @throws FencepostError `INVALID_ARGUMENT` when the row was made with another codec */
export function requireSameCodec(codec: RowCodec, rowName: string | undefined): void {
  if (codec.name === rowName) return;
  const [row, own] = [quote(rowName ?? 'json'), quote(codec.name ?? 'json')];
  throw new FencepostError(
    'INVALID_ARGUMENT',
    `codec: the task was made with the codec ${row}, this handle has ${own}`,
    { details: { argument: 'codec', row: rowName ?? 'json', codec: codec.name ?? 'json' } },
  );
}

interface Walk {
  readonly argument: string;
  readonly path: (string | number)[];
  readonly ancestors: object[];
}

function write(value: unknown, walk: Walk): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return String(value === 0 ? 0 : value);
      return refuse(walk, String(value));
    case 'object':
      return value === null ? 'null' : writeObject(value, walk);
    default:
      return refuse(walk, shown(value));
  }
}

function writeObject(value: object, walk: Walk): string {
  const { ancestors } = walk;
  if (ancestors.includes(value)) return refuse(walk, 'a cycle');
  if (ancestors.length === LEVELS_MAX) return refuse(walk, `more than ${LEVELS_MAX} levels`);
  ancestors.push(value);
  const text = Array.isArray(value) ? writeArray(value, walk) : writeRecord(value, walk);
  ancestors.pop();
  return text;
}

function writeArray(value: unknown[], walk: Walk): string {
  if (Object.getPrototypeOf(value) !== Array.prototype && !isForeignArray(value)) {
    return refuse(walk, kindOf(value));
  }
  const { length } = value;
  const parts: string[] = [];
  for (let index = 0; index < length; index += 1) {
    walk.path.push(index);
    if (!Object.hasOwn(value, index)) refuse(walk, 'a hole');
    parts.push(write(value[index], walk));
    walk.path.pop();
  }
  if (Object.keys(value).length > length) refuse(walk, 'an array with named properties');
  return `[${parts.join(',')}]`;
}

/** An array of another realm: its prototype is the end of a chain of two. */
function isForeignArray(value: unknown[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(prototype) && Object.hasOwn(prototype, 'copyWithin');
}

function writeRecord(value: object, walk: Walk): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain || Object.hasOwn(value, Symbol.toStringTag)) return refuse(walk, kindOf(value));
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length > 0) return refuse(walk, 'an object with symbols for names');
  const parts: string[] = [];
  for (const name of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[name];
    if (item === undefined) continue;
    walk.path.push(name);
    parts.push(`${JSON.stringify(name)}:${write(item, walk)}`);
    walk.path.pop();
  }
  return `{${parts.join(',')}}`;
}

function kindOf(value: object): string {
  const maker: unknown = Object.getPrototypeOf(value)?.constructor;
  const name = typeof maker === 'function' ? maker.name : '';
  return name === '' ? 'an object that is not plain' : `an instance of ${name}`;
}

function refuse(walk: Walk, got: string): never {
  const steps = walk.path.map((step) =>
    typeof step === 'number'
      ? `[${step}]`
      : IDENTIFIER.test(step)
        ? `.${step}`
        : `[${quote(step)}]`,
  );
  const place = steps.length > 20 ? [...steps.slice(0, 20), '…'] : steps;
  throw new FencepostError(
    'INVALID_ARGUMENT',
    `${walk.argument}${place.join('')}: expected a value that JSON can hold, got ${got}`,
    { details: { argument: walk.argument } },
  );
}
