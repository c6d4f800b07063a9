/** Key-value writes and checks that ride on another command. */
import { invalid, requireArray, requireWhole } from './arguments.js';
import { encodeJson } from './codec.js';
import { shown } from './errors.js';
import { keyName } from './names.js';
import type { WriteRequest } from './requests.js';
import type { Write } from './types.js';

const WRITES_MAX = 10_000;

/** What a Write holds, out of reach. */
const requests = new WeakMap<object, WriteRequest>();

/**
 * Puts a JSON value under a key, in the commit of the command it is given to.
 *
 * ```ts
 * const writes = [check('stock', seen.version), put('stock', seen.value - 1)]
 * await queue.enqueue(order, { writes })
 * ```
 *
 * @throws FencepostError `INVALID_ARGUMENT` for a value that JSON cannot hold
 */
export function put(key: string, value: unknown): Write {
  if (value === undefined) throw invalid('value', 'a value', 'undefined');
  return made({ kind: 'put', key: keyName(key), value: encodeJson(value, 'value') });
}

/** Deletes a key, in the commit of the command it is given to. Fine when it does not exist. */
export function del(key: string): Write {
  return made({ kind: 'delete', key: keyName(key) });
}

/**
 * The command holds only if the key has this version before it; `null`: if there is no such key.
 */
export function check(key: string, version: number | null): Write {
  return made({ kind: 'check', key: keyName(key), version: readVersion(version) });
}

/** `null` becomes `NaN`: must not exist. */
export function readVersion(version: unknown): number {
  return version === null ? Number.NaN : requireWhole('version', version, 0);
}

export function readWrites(value: unknown): WriteRequest[] {
  if (value === undefined) return [];
  const writes = requireArray('writes', value, WRITES_MAX);
  return writes.map((write, index) => {
    const request = typeof write === 'object' && write !== null ? requests.get(write) : undefined;
    if (request !== undefined) return request;
    throw invalid(`writes[${index}]`, 'what put(), del() or check() made', shown(write));
  });
}

function made(request: WriteRequest): Write {
  const write = Object.freeze(Object.create(null)) as Write;
  requests.set(write, request);
  return write;
}
