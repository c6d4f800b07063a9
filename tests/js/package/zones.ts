/** Runtimes that do not know every time zone. */
import { gridOf } from '../../../pkg/dist/cron.js';

/** Runs `body` in a runtime whose zone data lacks one zone. */
export async function withoutZone<T>(zone: string, body: () => Promise<T>): Promise<T> {
  const Original = Intl.DateTimeFormat;
  forgetGrids();
  Intl.DateTimeFormat = class extends Original {
    constructor(locale?: string, options?: Intl.DateTimeFormatOptions) {
      if (options?.timeZone === zone) throw new RangeError(`Invalid time zone specified: ${zone}`);
      super(locale, options);
    }
  } as typeof Original;
  try {
    return await body();
  } finally {
    Intl.DateTimeFormat = Original;
    forgetGrids();
  }
}

/** Fills the cache of grids with others, so that they are made again. */
function forgetGrids(): void {
  for (let minute = 0; minute < 60; minute += 1) {
    for (let hour = 0; hour < 24; hour += 1) gridOf(`${minute} ${hour} 7 7 *`, 'UTC');
  }
}
