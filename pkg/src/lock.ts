/** Locks: leases of a family of their own, for those who need no more than a lock. */
import { readOptions, requireWhole } from './arguments.js';
import { ownerName } from './names.js';
import { type Bridge, type FullName, type Moment, ROOT } from './requests.js';
import type { Session } from './session.js';
import type { Lock, LockName } from './types.js';

export class LockHandle implements LockName {
  readonly #session: Session;
  readonly #name: FullName;

  constructor(session: Session, name: FullName) {
    this.#session = session;
    this.#name = name;
  }

  async try(owner: string, options: { ttl: number }): Promise<Lock | null> {
    const ttl = readTtl(options);
    const request = { name: this.#name, owner: ownerName(owner).text, ttl, meta: undefined };
    // Decided on merged rows only: what is staged does not show in a status.
    const { reply } = await this.#session.alone((engine, at) => {
      const row = engine.leaseStatus(this.#name, { ...at, caller: ROOT });
      const isMine = row?.owner === request.owner && this.#holds(row.token, engine, at);
      if (isMine) return row.token;
      const granted = engine.leaseAcquire(request, at);
      return granted.ok ? granted.value.token : null;
    });
    return reply === null ? null : this.#lock(reply);
  }

  #lock(token: number): Lock {
    const held = async (act: (engine: Bridge, at: Moment) => boolean) => {
      const { reply } = await this.#session.command(
        (engine, at) => this.#holds(token, engine, at) && act(engine, at),
      );
      return reply;
    };
    return {
      token,
      renew: async (options) => {
        const ttl = readTtl(options);
        const request = { name: this.#name, token, ttl, meta: undefined };
        return held((engine, at) => engine.leaseRenew(request, at).ok);
      },
      release: () => held((engine, at) => engine.leaseRelease(this.#name, token, at)),
    };
  }

  /** An empty guarded commit asks, with the rights of the caller. */
  #holds(token: number, engine: Bridge, at: Moment): boolean {
    return engine.leaseGuardedCommit(this.#name, token, [], at).ok;
  }
}

function readTtl(options: unknown): number {
  return requireWhole('ttl', readOptions('options', options, ['ttl']).ttl, 1);
}
