/// <reference lib="esnext.disposable" preserve="true" />
/** Leases, and what is made of them: locks and effects. */
import type { Committed, Refused } from './answers.js';
import type { Write } from './kv.js';
import type { Transaction } from './transaction.js';

/** A lease as it stands in the store; without owner when nobody holds it. */
export interface LeaseRecord {
  name: string;
  owner?: string;
  token: number;
  until: number;
  acquiredAt: number;
  meta: unknown;
}

/** A name that one owner at a time may hold. */
export interface LeaseName {
  /**
   * Grants the lease when it is free or held by the same owner; every grant has a new token.
   *
   * `ttl`: milliseconds, from 0 (ends at once). `meta`: JSON, kept until replaced. `wait`: how long
   * to wait for it, milliseconds, `Infinity` allowed, default 0. An aborted `signal` rejects with
   * its reason and acquires nothing.
   *
   * `owner` and `until` of a refusal are absent for callers who may not inspect the lease.
   *
   * Those who wait in one store are granted in the order of asking. Between stores, and for a call
   * that does not wait, whoever comes first is.
   *
   * ```ts
   * const granted = await store.lease('leader').acquire('me', { ttl: 30_000, wait: 5_000 })
   * if (granted.ok) await granted.lease.guardedCommit([put('leader', 'me')])
   * ```
   */
  acquire(
    owner: string,
    options: { ttl: number; meta?: unknown; wait?: number; signal?: AbortSignal },
  ): Promise<
    { ok: true; lease: Lease } | { ok: false; reason: 'held'; owner?: string; until?: number }
  >;
  /** The Lease of a token that is still current, also a lapsed one that nobody took over. */
  adopt(token: number): Promise<Lease | null>;
  status(): Promise<LeaseRecord | null>;
  /**
   * Waits for the lease, runs `body` while it is renewed at a third of `ttl`, and releases it when
   * the body returned or threw. Answers what the body does.
   *
   * `lease.signal` aborts with `LeaseLost` when the lease is lost: taken over, released, refused,
   * or past its end because no renewal could be made; and when the store closes, which leaves the
   * lease to end by itself. The body goes on until it looks.
   *
   * `ttl`: milliseconds, from 1: what others wait for after this holder died. `signal` ends the
   * waiting, with its reason; once granted it is the body's own business.
   *
   * ```ts
   * await store.lease('reporter').hold('me', { ttl: 10_000 }, async (lease) => {
   *   while (!lease.signal.aborted) await report(lease.token)
   * })
   * ```
   */
  hold<T>(
    owner: string,
    options: { ttl: number; signal?: AbortSignal },
    body: (lease: Lease) => T | Promise<T>,
  ): Promise<T>;
}

/** A granted lease. */
export interface Lease extends AsyncDisposable {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  /** Free from this instant on. Follows renewals. */
  readonly until: number;
  readonly acquiredAt: number;
  readonly meta: unknown;
  /** Aborts with `LeaseLost` when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Until now + `ttl`; default: the last one. Refused with `fenced`, `released` or `gone`. */
  renew(options?: {
    ttl?: number;
    meta?: unknown;
  }): Promise<Committed<{ until: number }> | Refused>;
  /** Idempotent; frees nobody else's. */
  release(): Promise<void>;
  /** Applies the writes only while the lease is held. An empty list just asks. */
  guardedCommit(writes: Write[] | ((tx: Transaction) => void)): Promise<Committed | Refused>;
}

/** A lock: a lease for those who need no more. */
export interface LockName {
  /** Null when another owner holds it. The holder is granted the same token, not extended. */
  try(owner: string, options: { ttl: number }): Promise<Lock | null>;
}

export interface Lock {
  readonly token: number;
  /** Refused (false) once it expired. `ttl`: milliseconds, from 1. */
  renew(options: { ttl: number }): Promise<boolean>;
  /** Refused (false) once it expired. */
  release(): Promise<boolean>;
}

/** Runs an outside effect at most once to the knowledge of this store. */
export interface Effect {
  /** `pending`: begun before and not completed, so whether it happened must be found outside. */
  begin(): Promise<
    | { state: 'fresh' }
    | { state: 'pending'; attempts: number }
    | { state: 'committed'; result: unknown }
  >;
  /** The second time: `applied: false`, the first result, and no writes. */
  complete(
    result: unknown,
    options?: { writes?: Write[] },
  ): Promise<{ applied: boolean; result: unknown }>;
  status(): Promise<{
    state: 'pending' | 'committed';
    attempts: number;
    result?: unknown;
  } | null>;
}
