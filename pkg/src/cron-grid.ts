/**
 * The boundaries of a cron expression in a time zone. Loaded only where there is one: this file
 * brings the parser along.
 *
 * Boundaries are whole seconds. Over a change of the clocks, an expression whose second, minute and
 * hour are plain numbers, lists or ranges fires once per wall-clock time: one that is skipped fires
 * at the end of the gap, one that comes twice fires the first time. With a `*` or `/` among the
 * three it is a rhythm: it fires whenever the wall clock shows a matching time, so not in the gap,
 * and in both of the double hours.
 */
// Nothing else is imported: the build puts this module and the parser into one file.
import { Cron } from 'croner';

/** Instants in order. */
export interface Grid {
  /** The first boundary after an instant; undefined when there is none. */
  after(at: number): number | undefined;
}

/**
 * @throws Error with what is wrong with the expression
 */
export function cronGrid(expression: string, timeZone: string): Grid {
  requireFields(expression);
  const cron = new Cron(expression, {
    timezone: timeZone,
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
  return {
    after(at) {
      const next = cron.nextRun(new Date(at))?.getTime();
      return next !== undefined && next > at ? next : undefined;
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
