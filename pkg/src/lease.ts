/** Leases: a name that one owner at a time may hold, under a token that rises with every grant. */
import { optionalSignal, readOptions, requireFunction, requireWhole } from './arguments.js';
import { decodeJson, optionalJson } from './codec.js';
import { GrantedLease } from './lease-granted.js';
import { holdWhile } from './lease-hold.js';
import { ownerName } from './names.js';
import { type AcquireRequest, type FullName, type LeaseReply, ROOT } from './requests.js';
import type { Session } from './session.js';
import type { Lease, LeaseName, LeaseRecord } from './types.js';
import { readWait, waitForLease } from './wait-for-lease.js';

export class LeaseHandle implements LeaseName {
  readonly #session: Session;
  readonly #name: FullName;

  constructor(session: Session, name: FullName) {
    this.#session = session;
    this.#name = name;
  }

  async acquire(
    owner: string,
    options: { ttl: number; meta?: unknown; wait?: number; signal?: AbortSignal },
  ) {
    const given = readOptions('options', options, ['ttl', 'meta', 'wait', 'signal']);
    const request: AcquireRequest = {
      name: this.#name,
      owner: ownerName(owner).text,
      ttl: requireWhole('ttl', given.ttl, 0),
      meta: optionalJson(given.meta, 'meta'),
    };
    const waiting = { wait: readWait(given.wait), signal: optionalSignal(given.signal) };
    const outcome = await waitForLease(this.#session, request, waiting);
    if (!outcome.ok) return heldBy(outcome.details);
    const grant = { ...outcome.value, name: this.#name.text, owner: request.owner };
    return { ok: true as const, lease: new GrantedLease(this.#session, this.#name, grant) };
  }

  async hold<T>(
    owner: string,
    options: { ttl: number; signal?: AbortSignal },
    body: (lease: Lease) => T | Promise<T>,
  ): Promise<T> {
    const given = readOptions('options', options, ['ttl', 'signal']);
    const request: AcquireRequest = {
      name: this.#name,
      owner: ownerName(owner).text,
      ttl: requireWhole('ttl', given.ttl, 1),
      meta: undefined,
    };
    requireFunction('body', body);
    const waiting = { wait: Infinity, signal: optionalSignal(given.signal) };
    const outcome = await waitForLease(this.#session, request, waiting);
    if (!outcome.ok) throw new Error('a lease that is waited for without end is granted');
    const grant = { ...outcome.value, name: this.#name.text, owner: request.owner };
    return holdWhile(this.#session, { name: this.#name, grant, ttl: request.ttl }, body);
  }

  async adopt(token: number): Promise<Lease | null> {
    requireWhole('token', token, 0);
    const { reply: row } = await this.#session.alone((engine, at) => {
      // Asks for the right to hold it; whether it still runs does not matter.
      engine.leaseGuardedCommit(this.#name, token, [], at);
      return engine.leaseStatus(this.#name, { ...at, caller: ROOT });
    });
    if (row?.owner === undefined || row.token !== token) return null;
    return new GrantedLease(this.#session, this.#name, { ...row, owner: row.owner });
  }

  async status(): Promise<LeaseRecord | null> {
    const row = await this.#session.read((engine, at) => engine.leaseStatus(this.#name, at));
    return row === undefined ? null : leaseRecord(row);
  }
}

export function leaseRecord({ name, owner, token, until, acquiredAt, meta }: LeaseReply) {
  const record: LeaseRecord = {
    name,
    token,
    until,
    acquiredAt,
    meta: meta === undefined ? undefined : decodeJson(meta),
  };
  return owner === undefined ? record : { ...record, owner };
}

/** Who may not inspect the lease is not told who holds it until when. */
function heldBy(holder: Record<string, unknown> | undefined) {
  const held = { ok: false as const, reason: 'held' as const };
  if (typeof holder?.owner !== 'string' || typeof holder.until !== 'number') return held;
  return { ...held, owner: holder.owner, until: holder.until };
}
