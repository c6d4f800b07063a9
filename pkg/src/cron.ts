/**
 * Cron expressions: when they fire, and which of their boundaries have come.
 *
 * The engine knows no time zones. The parser is loaded when the first expression is met, so that
 * nobody else pays for it.
 */

import { NOW_MAX } from './clock.js';
import type { Grid } from './cron-grid.js';
import { FencepostError, quote } from './errors.js';
import type { PassedRequest } from './requests-schedule.js';

export type { Grid } from './cron-grid.js';

/** As in `src/limits.rs`. */
const CATCH_UP_MAX = 64;
const GRIDS_MAX = 1_000;
const SECOND_MS = 1_000;

let makeGrid: ((expression: string, timeZone: string) => Grid) | undefined;
const grids = new Map<string, Grid>();

/**
 * Loads the parser.
 *
 * @throws FencepostError `INVALID_SCHEDULE` when this runtime cannot get it
 */
export async function loadCron(): Promise<void> {
  try {
    makeGrid ??= (await import('./cron-grid.js')).cronGrid;
  } catch (cause) {
    const message = 'when.cron: expected the parser beside this module, got none';
    throw new FencepostError('INVALID_SCHEDULE', message, {
      details: { argument: 'when.cron' },
      cause,
    });
  }
}

export function cronIsLoaded(): boolean {
  return makeGrid !== undefined;
}

/**
 * The boundaries of an expression. `loadCron` has resolved before.
 *
 * @throws FencepostError `INVALID_SCHEDULE` when the expression cannot be read, or this runtime
 * does not know the time zone
 */
export function gridOf(expression: string, timeZone: string): Grid {
  const key = JSON.stringify([expression, timeZone]);
  const known = grids.get(key);
  if (known !== undefined) return known;
  requireZone(timeZone);
  const grid = readExpression(expression, timeZone);
  if (grids.size >= GRIDS_MAX) grids.clear();
  grids.set(key, grid);
  return grid;
}

/** The same for a row of the store; undefined where this runtime cannot work it out. */
export function usableGrid(cron: { expression: string; timeZone: string }): Grid | undefined {
  if (makeGrid === undefined) return undefined;
  try {
    return gridOf(cron.expression, cron.timeZone);
  } catch (error) {
    if (error instanceof FencepostError) return undefined;
    throw error;
  }
}

/**
 * What has come by `now` of a grid whose boundary `next` has come.
 *
 * **Cost**: looks at no more than some hundred boundaries, however many were missed.
 */
export function passedBy(grid: Grid, next: number, now: number): PassedRequest {
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
function newestBy(grid: Grid, boundary: number, now: number): number {
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

function requireZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    throw unusable('when.timeZone', 'a time zone that this runtime knows', timeZone, error);
  }
}

function readExpression(expression: string, timeZone: string): Grid {
  if (makeGrid === undefined) throw new Error('the parser is loaded before it is used');
  try {
    const grid = makeGrid(expression, timeZone);
    return { after: (at) => beforeTheEnd(grid.after(at)) };
  } catch (error) {
    throw unusable('when.cron', 'a cron expression', expression, error);
  }
}

/** Nothing comes after the year 2200. */
function beforeTheEnd(boundary: number | undefined): number | undefined {
  return boundary === undefined || boundary > NOW_MAX ? undefined : boundary;
}

function unusable(argument: string, what: string, text: string, cause: unknown): FencepostError {
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  const message = `${argument}: expected ${what}, got ${quote(text)}${reason}`;
  return new FencepostError('INVALID_SCHEDULE', message, { details: { argument }, cause });
}
