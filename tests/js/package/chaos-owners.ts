/**
 * Who owns which task, worked out from the events of a store and nothing else.
 *
 * **Invariant**: a task has one owner at a time. A claim lasts from its `claimed` to its last
 * `heartbeat` and the length of a lease after it, or to the event that ends it; the next one may
 * only begin behind that, and its token is above all that were ever given.
 */
import type { StoreEvent } from 'fencepost';

interface Claim {
  readonly token: number | undefined;
  /** The last instant at which it is held. */
  until: number;
}

export class Owners {
  readonly complaints: string[] = [];
  /** Claims of tasks that nobody had failed or released: their owner's time had run out. */
  takeovers = 0;
  readonly #lease: number;
  readonly #claims = new Map<number, Claim>();
  #highestToken = 0;

  /** `lease`: of every claim and every heartbeat. */
  constructor(lease: number) {
    this.#lease = lease;
  }

  /** The tasks that are in somebody's hands, as far as the events tell. */
  get held(): Iterable<number> {
    return this.#claims.keys();
  }

  take(event: StoreEvent): void {
    const { type, id } = event;
    if (type === 'gap') this.complaints.push(`events are missing: ${JSON.stringify(event)}`);
    if (id === undefined) return;
    if (type === 'claimed') this.#begin(id, event);
    if (type === 'heartbeat') this.#goOn(id, event);
    if (type === 'completed' || type === 'retried' || type === 'released') this.#endByOwner(event);
    if (type === 'dead') this.#die(event);
    // Time may still be what ends the task, and then it says in whose hands.
    if (isAbandoned(event)) this.#claims.set(id, { token: event.token, until: event.at - 1 });
    else if (ENDS.has(type)) this.#claims.delete(id);
  }

  /** Whether the claim that the event speaks of is the current one and still lasts. */
  isHeld({ id, token, at }: StoreEvent): boolean {
    const claim = id === undefined ? undefined : this.#claims.get(id);
    return claim !== undefined && claim.token === token && at <= claim.until;
  }

  #begin(id: number, event: StoreEvent): void {
    const { token = 0, at } = event;
    const before = this.#claims.get(id);
    if (before !== undefined) this.takeovers += 1;
    if (before !== undefined && at <= before.until) this.#complain('has two owners', event);
    if (token <= this.#highestToken) this.#complain('has a token that does not rise', event);
    this.#highestToken = Math.max(this.#highestToken, token);
    this.#claims.set(id, { token, until: at + this.#lease });
  }

  #goOn(id: number, event: StoreEvent): void {
    if (!this.isHeld(event)) this.#complain('is renewed by somebody who lost it', event);
    this.#claims.set(id, { token: event.token, until: event.at + this.#lease });
  }

  #endByOwner(event: StoreEvent): void {
    if (!this.isHeld(event)) this.#complain('is ended by somebody who lost it', event);
  }

  /** Time may end a claim as well, its own length or the task's. */
  #die(event: StoreEvent): void {
    if (event.reason === 'failed' && !this.isHeld(event)) {
      this.#complain('is failed by somebody who lost it', event);
    }
    const current = this.#claims.get(event.id ?? 0)?.token;
    if (event.token !== current) this.#complain(`dies in other hands than ${current}`, event);
  }

  #complain(what: string, event: StoreEvent): void {
    this.complaints.push(`task ${event.id} ${what}: ${JSON.stringify(event)}`);
  }
}

/** Whether a worker that was stopped gave the task back, and the attempt counts. */
export function isAbandoned({ type, reason }: StoreEvent): boolean {
  return type === 'released' && reason === 'abandoned';
}

const ENDS: ReadonlySet<StoreEvent['type']> = new Set([
  'completed',
  'retried',
  'released',
  'dead',
  'cancelled',
]);
