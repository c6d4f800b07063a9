/** Who calls, as the engine wants it: rights by name or by a prefix that ends in `*`. */
import { invalid, readOptions, requireArray } from './arguments.js';
import { quote, shown } from './errors.js';
import { requireName } from './names.js';
import type { CallerRequest } from './requests.js';

const RIGHTS = {
  queue: ['enqueue', 'claim', 'settle', 'inspect', 'manage'],
  lease: ['acquire', 'inspect'],
  kv: ['read', 'write'],
} as const;
type Realm = keyof typeof RIGHTS;
const REALMS = Object.keys(RIGHTS) as Realm[];

/** Captured by value. @throws FencepostError `INVALID_ARGUMENT` */
export function readCaller(value: unknown): CallerRequest {
  if (value === undefined) throw invalid('caller', 'an object with actor and may', 'undefined');
  const { actor, may } = readOptions('caller', value, ['actor', 'may']);
  const grants = requireArray('caller.may', may).map((grant, at) => readGrant(`may[${at}]`, grant));
  return { actor: requireName('caller.actor', actor), may: grants };
}

function readGrant(argument: string, value: unknown): CallerRequest['may'][number] {
  if (value === undefined) throw invalid(argument, 'a grant', 'undefined');
  const grant = readOptions(argument, value, [...REALMS, 'rights']);
  const named = REALMS.filter((realm) => grant[realm] !== undefined);
  const [realm] = named;
  if (realm === undefined || named.length > 1) {
    throw invalid(argument, 'exactly one of queue, lease and kv', `${named.length} of them`);
  }
  const known: readonly string[] = RIGHTS[realm];
  const rights = requireArray(`${argument}.rights`, grant.rights).map((right) => {
    if (typeof right === 'string' && known.includes(right)) return right;
    const choices = known.map(quote).join(', ');
    throw invalid(`${argument}.rights`, `some of ${choices}`, shown(right));
  });
  return { realm, pattern: requireName(`${argument}.${realm}`, grant[realm]), rights };
}
