/**
 * Waiting for a lease that somebody else holds.
 *
 * **Invariant**: a waiter that gave up is never granted: a signal that aborted is seen where the
 * grant is decided, and a grant that crossed it on its way is given back.
 */
import { requireWhole } from './arguments.js';
import type { AcquireRequest, Bridge, Outcome } from './requests.js';
import type { Session } from './session.js';

type Acquired = ReturnType<Bridge['leaseAcquire']>;

/** How long to wait: milliseconds from 0, or for ever. */
export function readWait(value: unknown): number {
  if (value === undefined) return 0;
  return value === Infinity ? Infinity : requireWhole('wait', value, 0);
}

export async function waitForLease(
  session: Session,
  request: AcquireRequest,
  { wait, signal }: { wait: number; signal: AbortSignal | undefined },
): Promise<Acquired> {
  const { clock } = session;
  const end = clock.monotonic() + wait;
  for (;;) {
    const outcome = await attempt(session, request, signal);
    const left = end - clock.monotonic();
    if (outcome.ok || left <= 0) return outcome;
    await untilItMayBeFree(session, request, { left, signal });
  }
}

/** One try. Rejects with the signal's reason when that comes first. */
async function attempt(
  session: Session,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
): Promise<Acquired> {
  signal?.throwIfAborted();
  const { reply } = await session.command(
    (engine, at): Acquired =>
      signal?.aborted === true ? GAVE_UP : engine.leaseAcquire(request, at),
  );
  if (signal?.aborted !== true) return reply;
  if (reply.ok) {
    const { token } = reply.value;
    await session.command((engine, at) => engine.leaseRelease(request.name, token, at));
  }
  throw signal.reason;
}

const GAVE_UP: Outcome<never> = { ok: false, reason: 'held' };

/** Until something changed about the lease, it ends, the wait is over, or the signal aborts. */
function untilItMayBeFree(
  session: Session,
  { name }: AcquireRequest,
  { left, signal }: { left: number; signal: AbortSignal | undefined },
): Promise<void> {
  const { clock } = session;
  const look = () =>
    session.glance((engine, at) => {
      const row = engine.leaseStatus(name, at);
      return { token: row?.token, until: row?.owner === undefined ? 0 : row.until };
    });
  const before = look();
  const ends = before === undefined ? 0 : clock.delayUntil(before.until);
  return new Promise((resolve) => {
    const wake = () => {
      stop();
      timer.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const stop = session.follow(() => {
      const now = look();
      const isSame = now?.token === before?.token && now?.until === before?.until;
      if (!isSame || !session.isOpen) wake();
    });
    const timer = clock.setTimer(Math.min(left, ends), wake);
    signal?.addEventListener('abort', wake);
  });
}
