/**
 * Holding a lease while a body runs: renewed meanwhile, released afterwards, however it ends.
 *
 * **Invariant**: nothing of it is left when the body is over. What fails meanwhile is not the
 * body's failure: the signal tells when the lease is lost, and a lease that could not be released
 * ends by itself. So does that of a closed store: its body may still be at work, and nobody else is
 * let in before the time that it was promised.
 */

import { LeaseLost } from './errors.js';
import { host } from './host.js';
import { type Grant, GrantedLease } from './lease-granted.js';
import type { FullName } from './requests.js';
import type { Session } from './session.js';
import { Tenure } from './tenure.js';
import { Renewals } from './tenure-renewal.js';
import type { Lease } from './types.js';

export async function holdWhile<T>(
  session: Session,
  { name, grant, ttl }: { name: FullName; grant: Grant; ttl: number },
  body: (lease: Lease) => T | Promise<T>,
): Promise<T> {
  const run = session.capture();
  const lost = new (host('AbortController'))();
  const lease = new GrantedLease(session, name, grant, lost);
  let isOver = false;
  const tenure = new Tenure({
    length: ttl,
    ends: () => lease.until,
    isWanted: () => !isOver && !lost.signal.aborted && session.isOpen,
    now: () => session.clock.now(),
    renew: () => lease.renew({ ttl }),
    onLapse: () => lose('it ended before it was renewed'),
    onError: () => undefined,
    onChange: () => renewals.arm(),
  });
  const renewals = new Renewals(session, [{ tenure }], 0);
  const lose = (how: string, cause?: unknown) => {
    run(() => lost.abort(new LeaseLost(`the lease is no longer held: ${how}`, { cause })));
    renewals.arm();
  };
  const stopWatching = session.onEnd(() => {
    const { failure } = session;
    if (failure === null) lose('the store was closed');
    else lose(failure.message, failure);
  });
  renewals.arm();
  try {
    return await body(lease);
  } finally {
    isOver = true;
    stopWatching();
    renewals.arm();
    const wasLost = lost.signal.aborted;
    const releasing = session.isOpen ? lease.release().catch(() => undefined) : undefined;
    // What is lost already is not waited for: perhaps because the journal gives no answer.
    if (!wasLost) await releasing;
  }
}
