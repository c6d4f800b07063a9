// @ts-check
/**
 * The lease `deliver`: whoever holds it works the queue, everybody else waits. It is renewed by a
 * timer and asked again before each settlement.
 */
import { RunFailed } from './failures.mjs';

/** @typedef {import('fencepost').Store} Store */
/** @typedef {import('fencepost').Lease} Lease */

/** A killed holder keeps its successor waiting for at most this long. */
const TTL_MS = 2_000;

export class Leadership {
  #lost = new AbortController();
  #renewals;

  /**
   * Waits until nobody else holds the lease.
   * @param {Store} store
   * @param {string} owner
   * @param {{ signal: AbortSignal, onWait: (holder: { owner: string, until: number }) => void }} o
   */
  static async acquire(store, owner, { signal, onWait }) {
    const name = store.lease('deliver');
    const first = await name.acquire(owner, { ttl: TTL_MS, signal });
    if (first.ok) return new Leadership(first.lease);
    onWait(first);
    const later = await name.acquire(owner, { ttl: TTL_MS, wait: Infinity, signal });
    if (!later.ok) throw new RunFailed(`the lease is held by ${later.owner}`);
    return new Leadership(later.lease);
  }

  /** @param {Lease} lease */
  constructor(lease) {
    this.lease = lease;
    this.#renewals = setInterval(() => this.#renew(), TTL_MS / 3);
    lease.signal.addEventListener('abort', () => this.#lose(lease.signal.reason));
  }

  /** Aborts when the lease is known to be lost. */
  get lost() {
    return this.#lost.signal;
  }

  /**
   * Is it still ours? One that ran out while this process slept is renewed, if nobody took it over.
   * @returns {Promise<boolean>}
   */
  async confirm() {
    if (!this.lost.aborted && Date.now() >= this.lease.until) await this.#renew();
    return !this.lost.aborted;
  }

  async release() {
    clearInterval(this.#renewals);
    await this.lease.release();
  }

  async #renew() {
    try {
      const renewed = await this.lease.renew();
      if (renewed.ok) return;
      this.#lose(new RunFailed(`the lease \`deliver\` is lost: ${renewed.reason}`));
    } catch (error) {
      this.#lose(error);
    }
  }

  /** @param {unknown} reason */
  #lose(reason) {
    clearInterval(this.#renewals);
    this.#lost.abort(reason);
  }
}
