/**
 * A granted lease: what its owner may do with it.
 *
 * **Invariant**: whether a lease is held is asked in the very commit that depends on it. `signal`
 * only tells what this store happens to know.
 */

import { optionalWhole, readOptions } from './arguments.js';
import { decodeJson, optionalJson } from './codec.js';
import type { RunIn } from './context.js';
import { LeaseLost } from './errors.js';
import { host } from './host.js';
import { INSPECT, printed } from './inspect.js';
import type { FullName, LeaseReply } from './requests.js';
import type { Session } from './session.js';
import { committed } from './task.js';
import { transact } from './transaction.js';
import type { Committed, Lease, Refused, Transaction, Write } from './types.js';
import { readWrites } from './writes.js';

/** What was granted. */
export interface Grant extends LeaseReply {
  readonly owner: string;
}

export class GrantedLease implements Lease {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  readonly acquiredAt: number;
  until: number;
  declare readonly meta: unknown;
  readonly #session: Session;
  readonly #name: FullName;
  readonly #lost: AbortController;
  #meta: Uint8Array | undefined;
  #stopWatching: (() => void) | null = null;
  /** In the context of whoever first looked at the signal. */
  #run: RunIn | null = null;

  /** `lost`: whoever else may find out that it is lost aborts this. */
  constructor(
    session: Session,
    name: FullName,
    grant: Grant,
    lost = new (host('AbortController'))(),
  ) {
    this.#session = session;
    this.#lost = lost;
    this.#name = name;
    this.name = grant.name;
    this.owner = grant.owner;
    this.token = grant.token;
    this.acquiredAt = grant.acquiredAt;
    this.until = grant.until;
    this.#meta = grant.meta;
    // An own property, so that a copy of the object and its JSON have it.
    Object.defineProperty(this, 'meta', {
      enumerable: true,
      get: () => (this.#meta === undefined ? undefined : decodeJson(this.#meta)),
    });
  }

  [INSPECT](_: number, options: unknown, print: Parameters<typeof printed>[3]): string {
    return printed('Lease', this, options, print);
  }

  /** From the first look on, whatever is merged about the lease is looked at. */
  get signal(): AbortSignal {
    const { signal } = this.#lost;
    if (this.#stopWatching === null && !signal.aborted && this.#session.isOpen) {
      this.#run = this.#session.capture();
      this.#stopWatching = this.#session.onMerged(`lease:${this.#name.text}`, () =>
        this.#lookIfHeld(),
      );
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
      this.until = until;
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
    const { failure } = this.#session;
    if (failure !== null) {
      this.#lose(failure.message, failure);
      return;
    }
    const seen = this.#session.glance((engine, at) => ({
      row: engine.leaseStatus(this.#name, at),
    }));
    if (seen === undefined) return;
    if (seen.row?.token !== this.token) this.#lose('it was taken over');
    else if (seen.row.owner === undefined) this.#lose('it was released');
  }

  #lose(how: string, cause?: unknown): void {
    this.#stopWatching?.();
    this.#stopWatching = () => undefined;
    if (this.#lost.signal.aborted) return;
    const reason = new LeaseLost(`the lease is no longer held: ${how}`, { cause });
    if (this.#run === null) this.#lost.abort(reason);
    else this.#run(() => this.#lost.abort(reason));
  }
}
