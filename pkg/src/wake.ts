/**
 * Wakes a Durable Object when its store has something to do.
 *
 * An object that has no request is taken out of memory, and its timers with it. What brings it back
 * is its alarm, of which it has one: it is set for the next time that anything is due.
 */
import { FencepostError, shown } from './errors.js';
import type { DurableObjectContext } from './journal/durable-object.js';
import type { Store } from './types.js';

/**
 * Sets the alarm of the object for the next time that anything in its store is due, or takes it
 * away. To be called last in every request and in every alarm: whatever was missed before (an alarm
 * that is overdue, one that was lost with a crash between a commit and this call) is made up for by
 * the next call.
 *
 * ```ts
 * async alarm() {
 *   await this.workOff()
 *   await wakeWhenDue(this.ctx, this.store)
 * }
 * ```
 *
 * @returns when it is due, in milliseconds since the Unix epoch, or null
 * @throws FencepostError `INVALID_ARGUMENT` when `ctx` has no alarm; what the store's lists throw
 */
export async function wakeWhenDue(ctx: DurableObjectContext, store: Store): Promise<number | null> {
  const storage = (ctx as DurableObjectContext | null | undefined)?.storage;
  if (typeof storage?.setAlarm !== 'function') {
    throw new FencepostError(
      'INVALID_ARGUMENT',
      `wakeWhenDue(ctx, store): expected the context of a Durable Object, came ${shown(ctx)}`,
      { details: { argument: 'ctx' } },
    );
  }
  const due = await nextDue(store);
  if (due === Infinity) {
    await storage.deleteAlarm();
    return null;
  }
  // The trap: an alarm in the past may never ring.
  const time = Math.max(due, Date.now() + 1);
  await storage.setAlarm(time);
  return time;
}

/** Of the tasks that somebody may claim, and of the schedules. Infinity: nothing is. */
async function nextDue(store: Store): Promise<number> {
  const [queues, schedules] = await Promise.all([store.queues(), store.schedules.list()]);
  const tasks = queues.map((queue) => (queue.paused ? undefined : queue.nextDue));
  const boundaries = schedules.map(({ next }) => next);
  return Math.min(...[...tasks, ...boundaries].map((at) => at ?? Infinity));
}
