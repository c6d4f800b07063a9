/**
 * Cron expressions: when they fire, and which of their boundaries have come.
 *
 * The engine knows no time zones. Everything that does is loaded when the first expression is met,
 * so that nobody else pays for it.
 */

import type { Grid } from './cron-grid.js';
import { FencepostError, quote } from './errors.js';

export type { Grid } from './cron-grid.js';

let parser: typeof import('./cron-grid.js') | undefined;

/**
 * Loads the parser.
 *
 * @throws FencepostError `INVALID_SCHEDULE` when this runtime cannot get it
 */
export async function loadCron(): Promise<void> {
  try {
    parser ??= await import('./cron-grid.js');
  } catch (cause) {
    const message = 'when.cron: expected the parser beside this module, got none';
    throw new FencepostError('INVALID_SCHEDULE', message, {
      details: { argument: 'when.cron' },
      cause,
    });
  }
}

export function cronIsLoaded(): boolean {
  return parser !== undefined;
}

/**
 * The boundaries of an expression. `loadCron` has resolved before.
 *
 * @throws FencepostError `INVALID_SCHEDULE` when the expression cannot be read, or this runtime
 * does not know the time zone
 */
export function gridOf(expression: string, timeZone: string): Grid {
  if (parser === undefined) throw new Error('the parser is loaded before it is used');
  const read = parser.readCron(expression, timeZone);
  if (read.ok) return read.grid;
  const { argument, expected, got, cause } = read;
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  const message = `${argument}: expected ${expected}, got ${quote(got)}${reason}`;
  throw new FencepostError('INVALID_SCHEDULE', message, { details: { argument }, cause });
}

/** The same for a row of the store; undefined where this runtime cannot work it out. */
export function usableGrid(cron: { expression: string; timeZone: string }): Grid | undefined {
  const read = parser?.readCron(cron.expression, cron.timeZone);
  return read?.ok ? read.grid : undefined;
}
