/**
 * Leases: a name that one owner at a time may hold, under a token that rises with every grant.
 *
 * **Invariant**: whether a lease is held is asked in the very commit that depends on it. `signal`
 * only tells what this store happens to know.
 */
import { optionalSignal, optionalWhole, readOptions, requireWhole } from './arguments.js';
import { decodeJson, optionalJson } from './codec.js';
import { LeaseLost } from './errors.js';
import { ownerName } from './names.js';
import { type AcquireRequest, type FullName, type LeaseReply, ROOT } from './requests.js';
import type { Session } from './session.js';
import { committed } from './task.js';
import { transact } from './transaction.js';
import type {
  Committed,
  Lease,
  LeaseName,
  LeaseRecord,
  Refused,
  Transaction,
  Write,
} from './types.js';
import { readWait, waitForLease } from './wait-for-lease.js';
import { readWrites } from './writes.js';

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

/** What was granted. */
interface Grant extends LeaseReply {
  readonly owner: string;
}

class GrantedLease implements Lease {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  readonly acquiredAt: number;
  readonly #session: Session;
  readonly #name: FullName;
  readonly #lost = new AbortController();
  #until: number;
  #meta: Uint8Array | undefined;
  #stopWatching: (() => void) | null = null;

  constructor(session: Session, name: FullName, grant: Grant) {
    this.#session = session;
    this.#name = name;
    this.name = grant.name;
    this.owner = grant.owner;
    this.token = grant.token;
    this.acquiredAt = grant.acquiredAt;
    this.#until = grant.until;
    this.#meta = grant.meta;
  }

  get until(): number {
    return this.#until;
  }

  get meta(): unknown {
    return this.#meta === undefined ? undefined : decodeJson(this.#meta);
  }

  /** From the first look on, every merge is looked through. */
  get signal(): AbortSignal {
    const { signal } = this.#lost;
    if (this.#stopWatching === null && !signal.aborted && this.#session.isOpen) {
      this.#stopWatching = this.#session.onMerged(() => this.#lookIfHeld());
      this.#lookIfHeld();
    }
    return signal;
  }

  async renew(options?: {
    ttl?: number;
    meta?: unknown;
  }): Promise<Committed<{ until: number }> | Refused> {
    const { ttl, meta } = readOptions('options', options, ['ttl', 'meta']);
    const request = {
      name: this.#name,
      token: this.token,
      ttl: optionalWhole('ttl', ttl, 0),
      meta: optionalJson(meta, 'meta'),
    };
    const answer = await this.#session.command((engine, at) => engine.leaseRenew(request, at));
    if (!answer.reply.ok) this.#lose(`a renewal was refused: ${answer.reply.reason}`);
    return committed(answer, (until) => {
      this.#until = until;
      if (request.meta !== undefined) this.#meta = request.meta;
      return { until };
    });
  }

  async release(): Promise<void> {
    await this.#session.command((engine, at) => engine.leaseRelease(this.#name, this.token, at));
    this.#lose('it was released');
  }

  async guardedCommit(writes: Write[] | ((tx: Transaction) => void)): Promise<Committed | Refused> {
    if (typeof writes === 'function') {
      const done = await transact(this.#session, writes, (engine, at) =>
        engine.txRequireLease(this.#name, this.token, at),
      );
      return done.ok ? { ...done, value: undefined } : done;
    }
    const requests = readWrites(writes ?? []);
    return committed(
      await this.#session.command((engine, at) =>
        engine.leaseGuardedCommit(this.#name, this.token, requests, at),
      ),
      () => undefined,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#session.isOpen) await this.release();
  }

  #lookIfHeld(): void {
    const seen = this.#session.glance((engine, at) => ({
      row: engine.leaseStatus(this.#name, at),
    }));
    if (seen === undefined) return;
    if (seen.row?.token !== this.token) this.#lose('it was taken over');
    else if (seen.row.owner === undefined) this.#lose('it was released');
  }

  #lose(how: string): void {
    this.#stopWatching?.();
    this.#stopWatching = () => undefined;
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(new LeaseLost(`the lease is no longer held: ${how}`));
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
  const { owner, until } = (holder ?? {}) as { owner: string; until: number };
  const held = { ok: false as const, reason: 'held' as const };
  return (holder === undefined ? held : { ...held, owner, until }) as {
    ok: false;
    reason: 'held';
    owner: string;
    until: number;
  };
}
