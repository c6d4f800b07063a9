/**
 * Cron expressions: when they fire, and which of their boundaries have come.
 *
 * The engine knows no time zones; everything that does comes with this module. It is imported like
 * any other one: a service worker may import nothing later, nor may CommonJS in a sandbox.
 */

import { type CronReading, type Grid, readCron } from './cron-grid.js';
import { FencepostError, quote } from './errors.js';
import { isError } from './realm.js';

export type { Grid } from './cron-grid.js';

/**
 * The boundaries of an expression.
 *
 * @throws FencepostError `INVALID_SCHEDULE` when the expression cannot be read, or this runtime
 * does not know the time zone
 */
export function gridOf(expression: string, timeZone: string): Grid {
  const read = readCron(expression, timeZone);
  if (read.ok) return read.grid;
  throw refusalOf(read);
}

/** A row of the store. */
interface StoredCron {
  readonly expression: string;
  readonly timeZone: string;
}

/** The same for a row of the store; undefined where this runtime cannot work it out. */
export function usableGrid({ expression, timeZone }: StoredCron): Grid | undefined {
  const read = readCron(expression, timeZone);
  return read.ok ? read.grid : undefined;
}

/** Why this runtime cannot work it out; undefined when it can. */
export function hindranceOf({ expression, timeZone }: StoredCron): FencepostError | undefined {
  const read = readCron(expression, timeZone);
  return read.ok ? undefined : refusalOf(read);
}

function refusalOf(read: CronReading & { ok: false }): FencepostError {
  const { argument, expected, got, cause } = read;
  const reason = isError(cause) ? ` (${cause.message})` : '';
  const message = `${argument}: expected ${expected}, got ${quote(got)}${reason}`;
  return new FencepostError('INVALID_SCHEDULE', message, { details: { argument }, cause });
}
