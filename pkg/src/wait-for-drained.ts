/** Waiting until a queue has nothing left to do. Woken by what is merged of it; never polls. */
import { onAbort } from './abort.js';
import { type Bridge, type FullName, type Moment, ROOT } from './requests.js';
import type { Session } from './session.js';

/** `until`: what is due from this instant on does not count. */
export async function waitUntilDrained(
  session: Session,
  queue: FullName,
  { until, signal }: { until: number; signal: AbortSignal | undefined },
): Promise<void> {
  signal?.throwIfAborted();
  const look = (engine: Bridge, at: Moment) => isDrained(engine, queue, until, at);
  // Followed before it is asked, so that nothing happens unseen between the two.
  let wake = () => {};
  const stop = session.follow(`queue:${queue.text}`, () => wake());
  let ignore = () => {};
  try {
    if (signal !== undefined) ignore = onAbort(signal, () => wake());
    if (await session.read(look)) return;
    await new Promise<void>((resolve, reject) => {
      wake = () => {
        try {
          signal?.throwIfAborted();
          if (session.peek(look) === true) resolve();
        } catch (error) {
          reject(error);
        }
      };
      wake();
    });
  } finally {
    stop();
    ignore();
  }
}

function isDrained(engine: Bridge, queue: FullName, until: number, at: Moment): boolean {
  const { scheduled, ready, inflight } = engine.queueCounts(queue, at);
  if (ready > 0 || inflight > 0) return false;
  if (scheduled === 0) return true;
  // Of a queue that is paused nothing is due; then all that is scheduled counts.
  const due = engine.queueNextDue(queue, { ...at, caller: ROOT });
  return due !== undefined && due >= until;
}
