/** Who calls, as the engine wants it: rights on a name, or by a prefix that ends in `*`. */
import { invalid, readOptions, requireArray } from './arguments.js';
import { quote, shown } from './errors.js';
import { requireName } from './names.js';
import type { CallerRequest, GrantRequest } from './requests.js';

const RIGHTS = {
  queue: ['enqueue', 'claim', 'settle', 'inspect', 'manage'],
  lease: ['acquire', 'inspect'],
  kv: ['read', 'write'],
} as const;
type Realm = keyof typeof RIGHTS;
const REALMS = Object.keys(RIGHTS) as Realm[];
/** As in `src/limits.rs`. */
const GRANTS_MAX = 1_000;

/**
 * Captured by value. `giver`: who hands its rights on.
 *
 * @throws FencepostError `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`
 */
export function readCaller(value: unknown, giver: CallerRequest | undefined): CallerRequest {
  if (value === undefined) throw invalid('caller', 'an object with actor and may', 'undefined');
  const { actor, may } = readOptions('caller', value, ['actor', 'may']);
  const own = requireArray('caller.may', may, GRANTS_MAX);
  const grants = own.map((grant, at) => readGrant(`may[${at}]`, grant));
  const lists = [...(giver?.may ?? []), grants];
  // Nobody hands rights on so often but in a circle.
  requireArray('caller', lists, GRANTS_MAX);
  return { actor: requireName('caller.actor', actor), may: lists };
}

function readGrant(argument: string, value: unknown): GrantRequest {
  if (value === undefined) throw invalid(argument, 'a grant', 'undefined');
  const grant = readOptions(argument, value, [...REALMS, 'rights']);
  const named = REALMS.filter((realm) => grant[realm] !== undefined);
  const [realm] = named;
  if (realm === undefined || named.length > 1) {
    throw invalid(argument, 'exactly one of queue, lease and kv', `${named.length} of them`);
  }
  const known: readonly string[] = RIGHTS[realm];
  const given = requireArray(`${argument}.rights`, grant.rights, GRANTS_MAX);
  const rights = given.map((right) => {
    if (typeof right === 'string' && known.includes(right)) return right;
    const choices = known.map(quote).join(', ');
    throw invalid(`${argument}.rights`, `some of ${choices}`, shown(right));
  });
  return { realm, ...readNames(`${argument}.${realm}`, grant[realm]), rights };
}

/** A name, a prefix that ends in a star, or `{ exact }`. */
function readNames(argument: string, value: unknown): { pattern: string; isExact: boolean } {
  if (typeof value !== 'object') return { pattern: requireName(argument, value), isExact: false };
  const { exact } = readOptions(argument, value, ['exact']);
  return { pattern: requireName(`${argument}.exact`, exact), isExact: true };
}
