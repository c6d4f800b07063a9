/**
 * How each request is packed. The order of the fields is that of `src/wasm/requests.rs`.
 */

import type { Packer } from './packing.js';
import {
  type CallerRequest,
  type ClaimReference,
  type CompleteRequest,
  type EnqueueRequest,
  FAMILY,
  type FailRequest,
  type GrantRequest,
  JITTERS,
  type NameListRequest,
  type StampsRequest,
  type WriteRequest,
} from './requests.js';

const REALMS = ['queue', 'lease', 'kv'];
const RIGHTS = ['enqueue', 'claim', 'settle', 'inspect', 'manage', 'acquire', 'read', 'write'];
const WRITE_KINDS = { put: 0, delete: 1, check: 2 } as const;

function enqueue(packer: Packer, request: EnqueueRequest): Packer {
  packer.name(request.queue).blob(request.payload);
  packer.byte(FAMILY.key).text(request.key);
  packer.byte(FAMILY.owner).text(request.codec);
  packer.number(request.priority).number(request.delay);
  packer.number(request.runAt).number(request.expiresIn);
  return writes(stamps(packer, request.stamps), request.writes);
}

function stamps(packer: Packer, request: StampsRequest): Packer {
  packer.number(request.lease).number(request.maxAttempts);
  packer.number(request.backoffBase).number(request.backoffMax);
  packer.byte(JITTERS.indexOf(request.jitter));
  packer.number(request.deadRetention).number(request.resultRetention);
  return packer.number(request.keyRetention);
}

function writes(packer: Packer, requests: readonly WriteRequest[]): Packer {
  packer.count(requests.length);
  for (const write of requests) {
    packer.byte(WRITE_KINDS[write.kind]).name(write.key);
    if (write.kind === 'put') packer.blob(write.value);
    if (write.kind === 'check') packer.number(write.version);
  }
  return packer;
}

function enqueues(packer: Packer, requests: readonly EnqueueRequest[]): Packer {
  packer.count(requests.length);
  for (const request of requests) enqueue(packer, request);
  return packer;
}

function claimReference(packer: Packer, claim: ClaimReference): Packer {
  return packer.name(claim.queue).number(claim.id).number(claim.token);
}

function complete(packer: Packer, request: CompleteRequest): Packer {
  claimReference(packer, request).blob(request.result);
  return writes(enqueues(packer, request.followUps), request.writes);
}

function fail(packer: Packer, request: FailRequest): Packer {
  claimReference(packer, request).text(request.error).number(request.delay).flag(request.final);
  return writes(packer, request.writes);
}

function ids(packer: Packer, chosen: readonly number[] | undefined): Packer {
  packer.flag(chosen !== undefined);
  if (chosen === undefined) return packer;
  packer.count(chosen.length);
  for (const id of chosen) packer.number(id);
  return packer;
}

function nameList(packer: Packer, request: NameListRequest): Packer {
  return packer.text(request.prefix).text(request.cursor).number(request.limit);
}

/** Realms and rights in the order of `src/wasm/requests.rs`. */
function caller(packer: Packer, { actor, may }: CallerRequest): Packer {
  packer.text(actor).count(may.length);
  for (const grants of may) {
    packer.count(grants.length);
    for (const one of grants) grant(packer, one);
  }
  return packer;
}

function grant(packer: Packer, { realm, pattern, isExact, rights }: GrantRequest): void {
  packer.byte(REALMS.indexOf(realm)).flag(isExact).text(pattern).count(rights.length);
  for (const right of rights) packer.byte(RIGHTS.indexOf(right));
}

export const packRequest = {
  caller,
  enqueue,
  enqueues,
  claimReference,
  complete,
  fail,
  ids,
  nameList,
  writes,
};
