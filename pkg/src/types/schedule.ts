/** Schedules: tasks that are made by the time. */
import type { Codec, Stamps } from './queue.js';

/**
 * When a schedule fires. The instants at which it does are its boundaries.
 *
 * `every`: milliseconds, from 1; the first boundary is now + every. `at`: once, from 1970 to 2200;
 * at once when it is in the past. `cron`: five fields (minute, hour, day of month, month, day of
 * week), six with a second before them, seven with a year behind them, or a nickname like `@daily`;
 * at most 1 024 bytes. `timeZone`: an IANA name, default `UTC`.
 *
 * Over daylight saving, a `cron` whose second, minute and hour are plain (numbers, lists, ranges)
 * fires once per wall-clock time: one that is skipped fires at the end of the gap, one that comes
 * twice fires the first time. With a `*` or `/` among the three it keeps its rhythm: nothing in the
 * gap, and both of the double hours.
 */
export type When = { every: number } | { cron: string; timeZone?: string } | { at: number | Date };

/** The task that each boundary makes. Its stamps go before those of the declared queue. */
export interface ScheduledJob<N = string, P = unknown> extends Stamps {
  queue: N;
  /** Stored as `codec` has it. */
  payload: P;
  /** Default: JSON. The tasks are read with a handle that has it too. */
  codec?: Codec;
  /** Higher first. Default 0; -(2^53 - 1) to 2^53 - 1. */
  priority?: number;
  /** Not worth running this many milliseconds after the firing. From 1. Default: for ever. */
  expiresIn?: number;
  /**
   * What fires of the boundaries that came while nobody was there: `all` of them (default), at most
   * 64, the oldest first; the `last`; or `none`, which fires only one that is the only one. Then
   * the schedule goes on with its first boundary in the future.
   */
  catchUp?: 'all' | 'last' | 'none';
}

/** A schedule as it stands in the store. */
export interface ScheduleRecord {
  name: string;
  when: When;
  /** What is at its default is left out. With a `codec` that is named, `payload` is its bytes. */
  job: Omit<ScheduledJob, 'codec'> & { codec?: string };
  /** The next boundary; null when none is left. */
  next: number | null;
  /** When it last made a task. */
  lastFiredAt?: number;
  /** How many tasks it has made. */
  fired: number;
  /** Why this runtime cannot fire it (it does not know the time zone, say); others may. */
  unfired?: string;
}
