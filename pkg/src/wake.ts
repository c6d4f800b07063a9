/**
 * Wakes a Durable Object when its store has something to do.
 *
 * An object that has no request is taken out of memory, and its timers with it. What brings it back
 * is its alarm, of which it has one: it is set for the next time that there is work for it.
 *
 * **Invariant**: work that the alarm does not work off does not make it ring without a pause.
 */
import { invalid, readOptions } from './arguments.js';
import { usableGrid } from './cron.js';
import { FencepostError, shown } from './errors.js';
import type { DurableObjectContext } from './journal/durable-object.js';
import { ZONE_DEFAULT } from './schedule-options.js';
import type { ScheduleRecord, Store } from './types.js';

/** How long work waits that was due before the alarm and is still there after it. */
const PAUSE_MS = 1_000;

/** When work that was due was last seen. An object that comes back into memory begins anew. */
const seenDue = new WeakMap<DurableObjectContext, number>();

/**
 * Sets the alarm of the object for the next time that its store has work: a task that may be
 * claimed or a schedule that is to be fired. Takes it away when there is none. To be called last in
 * every request and in every alarm: whatever was missed before (an alarm that is overdue, one that
 * was lost with a crash between a commit and this call) is made up for by the next call.
 *
 * `queues`: those that the alarm works off, by the names that `store.queues()` tells; default: all.
 * What was due in them and is still there when the alarm is over makes it ring a second later.
 *
 * Nothing else wakes the object: what expires or is past its retention is not served and not shown
 * in any case, and is removed when the object is in memory; neither is a `cron` in a time zone that
 * this runtime does not know.
 *
 * ```ts
 * async alarm() {
 *   await this.workOff()
 *   await wakeWhenDue(this.ctx, this.store, { queues: ['deliveries'] })
 * }
 * ```
 *
 * @returns when it is due, in milliseconds since the Unix epoch, or null
 * @throws FencepostError `INVALID_ARGUMENT` when `ctx` has no alarm or an option is bad; what the
 * store's lists throw
 */
export async function wakeWhenDue(
  ctx: DurableObjectContext,
  store: Store,
  options?: { queues?: readonly string[] },
): Promise<number | null> {
  const storage = (ctx as DurableObjectContext | null | undefined)?.storage;
  if (typeof storage?.setAlarm !== 'function') {
    throw new FencepostError(
      'INVALID_ARGUMENT',
      `wakeWhenDue(ctx, store): expected the context of a Durable Object, got ${shown(ctx)}`,
      { details: { argument: 'ctx' } },
    );
  }
  const queues = readQueues(options);
  const due = Math.min(await nextTask(store, queues), await nextBoundary(store));
  const isDue = due <= Date.now();
  if (!isDue) seenDue.delete(ctx);
  if (due === Infinity) {
    await storage.deleteAlarm();
    return null;
  }
  const time = isDue ? await soon(ctx, due) : due;
  await storage.setAlarm(time);
  return time;
}

/** For work that is due. While an alarm runs none is set, unless somebody set the next one. */
async function soon(ctx: DurableObjectContext, due: number): Promise<number> {
  const pending = await ctx.storage.getAlarm();
  const now = Date.now();
  const isOld = due <= (seenDue.get(ctx) ?? Number.NEGATIVE_INFINITY);
  seenDue.set(ctx, now);
  if (isOld && pending === null) return now + PAUSE_MS;
  // The trap: an alarm in the past may never ring.
  return isOld && pending !== null && pending > now ? pending : now + 1;
}

function readQueues(options: unknown): readonly string[] | undefined {
  const { queues } = readOptions('options', options, ['queues']);
  if (queues === undefined) return undefined;
  const areNames = Array.isArray(queues) && queues.every((name) => typeof name === 'string');
  if (!areNames) throw invalid('options.queues', 'an array of names', shown(queues));
  return queues;
}

/** When a task may be claimed. Infinity: none ever, as things are. */
async function nextTask(store: Store, names: readonly string[] | undefined): Promise<number> {
  const summaries = await store.queues();
  const due = summaries.filter(({ name, paused }) => !paused && (names?.includes(name) ?? true));
  // What is ready is due since, not only now.
  return first(due.map(({ oldestReadyAt, nextDue }) => oldestReadyAt ?? nextDue));
}

/** When a schedule is to be fired that this runtime can work out. */
async function nextBoundary(store: Store): Promise<number> {
  const schedules = await store.schedules.list();
  return first(schedules.filter(isFiredHere).map(({ next }) => next));
}

function isFiredHere({ when }: ScheduleRecord): boolean {
  if (!('cron' in when)) return true;
  const { cron: expression, timeZone = ZONE_DEFAULT } = when;
  return usableGrid({ expression, timeZone }) !== undefined;
}

function first(instants: readonly (number | null | undefined)[]): number {
  return Math.min(...instants.map((at) => at ?? Infinity));
}
