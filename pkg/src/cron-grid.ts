/**
 * The boundaries of a cron expression in a time zone. This file brings the parser along.
 *
 * Boundaries are whole seconds. Over a change of the clocks, an expression whose second, minute and
 * hour are plain numbers, lists or ranges fires once per wall-clock time: one that is skipped fires
 * at the end of the gap, one that comes twice fires the first time. With a `*` or `/` among the
 * three it is a rhythm: it fires whenever the wall clock shows a matching time, so not in the gap,
 * and in both of the double hours.
 */
// The build puts this module, all that it imports and the parser into one file: of the package's
// own it may import constants, which can be there twice, and nothing else.
import { Cron } from 'croner';
import { NOW_MAX } from './clock.js';
import type { PassedRequest } from './requests-schedule.js';

/** As in `src/limits.rs`. */
const CATCH_UP_MAX = 64;
const GRIDS_MAX = 1_000;
const SECOND_MS = 1_000;

/** Instants in order. */
export interface Boundaries {
  /** The first boundary after an instant; undefined when there is none. */
  after(at: number): number | undefined;
}

export interface Grid extends Boundaries {
  /** What has come by `now`, when the boundary `next` has. */
  passed(next: number, now: number): PassedRequest;
}

/** An expression that was read, or why it cannot be. */
export type CronReading = { ok: true; grid: Grid } | ({ ok: false } & Unusable);

interface Unusable {
  readonly argument: string;
  readonly expected: string;
  readonly got: string;
  readonly cause: unknown;
}

const grids = new Map<string, Grid>();

/** The boundaries of an expression. */
export function readCron(expression: string, timeZone: string): CronReading {
  const key = JSON.stringify([expression, timeZone]);
  const known = grids.get(key);
  if (known !== undefined) return { ok: true, grid: known };
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (cause) {
    const expected = 'a time zone that this runtime knows';
    return { ok: false, argument: 'when.timeZone', expected, got: timeZone, cause };
  }
  try {
    const grid = makeGrid(expression, timeZone);
    if (grids.size >= GRIDS_MAX) grids.clear();
    grids.set(key, grid);
    return { ok: true, grid };
  } catch (cause) {
    const expected = 'a cron expression';
    return { ok: false, argument: 'when.cron', expected, got: expression, cause };
  }
}

/** @throws Error with what is wrong with the expression */
function makeGrid(expression: string, timeZone: string): Grid {
  requireFields(expression);
  const cron = new Cron(expression, {
    timezone: timeZone,
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
  return {
    after(at) {
      const next = cron.nextRun(new Date(at))?.getTime() ?? Infinity;
      // Nothing comes after the year 2200.
      return next > at && next <= NOW_MAX ? next : undefined;
    },
    passed(next, now) {
      return passedBy(this, next, now);
    },
  };
}

/** The parser would take an ISO date, too: `at` is for that. */
function requireFields(expression: string): void {
  const { length } = expression.trim().split(/\s+/);
  const isNickname = expression.trim().startsWith('@');
  if (isNickname ? length === 1 : length >= 5 && length <= 7) return;
  throw new Error(`${length} fields`);
}

/**
 * What has come by `now` of a grid whose boundary `next` has come.
 *
 * **Cost**: looks at no more than some hundred boundaries, however many were missed.
 */
export function passedBy(grid: Boundaries, next: number, now: number): PassedRequest {
  const oldest = [next];
  let following = grid.after(next);
  while (following !== undefined && following <= now && oldest.length < CATCH_UP_MAX) {
    oldest.push(following);
    following = grid.after(following);
  }
  if (following === undefined || following > now) {
    return { oldest, newest: oldest.at(-1) ?? next, next: following ?? Number.NaN };
  }
  const newest = newestBy(grid, following, now);
  return { oldest, newest, next: grid.after(now) ?? Number.NaN };
}

/** The newest boundary by `now`, from one that has come. Boundaries are whole seconds. */
function newestBy(grid: Boundaries, boundary: number, now: number): number {
  let newest = boundary;
  let end = now;
  while (end - newest >= SECOND_MS) {
    const middle = newest + Math.floor((end - newest) / 2);
    const found = grid.after(middle);
    if (found !== undefined && found <= now) newest = found;
    else end = middle;
  }
  return newest;
}
