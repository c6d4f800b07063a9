/**
 * The errors of the package: one class, one table of codes, and the errors that handlers throw or
 * meet in `signal.reason`.
 *
 * **Invariant**: the codes are those of the engine (`src/error.rs`), and a code never disappears.
 * `code` is for programs, `kind` says what the caller should do, `message` is for people.
 *
 * Refusals (a stale token, a held lease, nothing to claim) are no errors: they are ordinary
 * results.
 */

/** Every code, and what its kind asks the caller to do. */
export const ERROR_KINDS = {
  INVALID_ARGUMENT: 'invalid',
  INVALID_NAME: 'invalid',
  RESERVED_NAME: 'invalid',
  PAYLOAD_TOO_LARGE: 'invalid',
  LIMIT_EXCEEDED: 'invalid',
  INVALID_SCHEDULE: 'invalid',
  UNSUPPORTED_HOST: 'invalid',
  PERMISSION_DENIED: 'denied',
  CHECK_FAILED: 'conflict',
  TASK_DEAD: 'ended',
  TASK_CANCELLED: 'ended',
  TASK_GONE: 'ended',
  LEASE_LOST: 'ended',
  CANCELLED: 'ended',
  TIMED_OUT: 'ended',
  STOPPED: 'ended',
  JOURNAL_UNAVAILABLE: 'unavailable',
  JOURNAL_FULL: 'unavailable',
  JOURNAL_LOCKED: 'unavailable',
  OUTCOME_UNKNOWN: 'unavailable',
  STORE_FULL: 'unavailable',
  JOURNAL_CORRUPT: 'data',
  FORMAT_TOO_NEW: 'data',
  LOG_REPLACED: 'data',
  STORE_CLOSED: 'closed',
  ENGINE_CRASHED: 'closed',
} as const;

/** A stable name of what went wrong. */
export type ErrorCode = keyof typeof ERROR_KINDS;

/**
 * What the caller should do: `invalid` fix the call, `denied` ask for the right, `conflict` read
 * again and retry, `ended` stop, `unavailable` try again (perhaps after reopening), `data` restore
 * or upgrade, `closed` open again.
 */
export type ErrorKind = (typeof ERROR_KINDS)[ErrorCode];

/** Facts a program may want besides the code: the argument, a limit, a file. Never a payload. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** What an error may carry besides its code and message. */
export interface FencepostErrorOptions {
  /** Default: no details. */
  details?: ErrorDetails;
  /** What the platform threw, when there is such a thing. */
  cause?: unknown;
}

/**
 * The only error this package throws for its own reasons. `instanceof` also holds for one of
 * another copy of the package: a program may well load it as a module and as CommonJS.
 */
export class FencepostError extends Error {
  static {
    holdAcrossCopies(FencepostError, 'FencepostError');
  }

  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: FencepostErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = ERROR_KINDS[code];
    this.details = options.details ?? {};
  }

  override get name(): string {
    return 'FencepostError';
  }
}

/** The claim or lease is no longer held: it lapsed, was taken over, or a renewal was refused. */
export class LeaseLost extends FencepostError {
  static {
    holdAcrossCopies(LeaseLost, 'LeaseLost');
  }

  constructor(message = 'the claim or lease is no longer held', options?: FencepostErrorOptions) {
    super('LEASE_LOST', message, options);
  }

  override get name(): string {
    return 'LeaseLost';
  }
}

/** The task was cancelled while its handler ran. */
export class Cancelled extends FencepostError {
  static {
    holdAcrossCopies(Cancelled, 'Cancelled');
  }

  constructor(message = 'the task was cancelled', options?: FencepostErrorOptions) {
    super('CANCELLED', message, options);
  }

  override get name(): string {
    return 'Cancelled';
  }
}

/** The handler ran longer than `maxRun`. */
export class TimedOut extends FencepostError {
  static {
    holdAcrossCopies(TimedOut, 'TimedOut');
  }

  constructor(message = 'the time is over', options?: FencepostErrorOptions) {
    super('TIMED_OUT', message, options);
  }

  override get name(): string {
    return 'TimedOut';
  }
}

/** The worker or the store is stopping. */
export class Stopped extends FencepostError {
  static {
    holdAcrossCopies(Stopped, 'Stopped');
  }

  constructor(message = 'the worker was stopped', options?: FencepostErrorOptions) {
    super('STOPPED', message, options);
  }

  override get name(): string {
    return 'Stopped';
  }
}

/** Thrown by a handler: the task cannot succeed, bury it now. */
export class NonRetriable extends Error {
  static {
    holdAcrossCopies(NonRetriable, 'NonRetriable');
  }

  override get name(): string {
    return 'NonRetriable';
  }
}

/** Thrown by a handler: this attempt failed, try again after `delay`. */
export class RetryAfter extends Error {
  static {
    holdAcrossCopies(RetryAfter, 'RetryAfter');
  }

  /** Milliseconds; negative means at once. */
  readonly delay: number;

  /**
   * @param delay whole milliseconds until the next attempt
   * @throws FencepostError `INVALID_ARGUMENT` when `delay` is not a whole number
   */
  constructor(delay: number, message?: string, options?: ErrorOptions) {
    if (!Number.isSafeInteger(delay)) {
      throw new FencepostError(
        'INVALID_ARGUMENT',
        `RetryAfter(delay): expected whole milliseconds, got ${shown(delay)}`,
        { details: { argument: 'delay' } },
      );
    }
    super(message ?? `retry after ${delay} ms`, options);
    this.delay = delay;
  }

  override get name(): string {
    return 'RetryAfter';
  }
}

/**
 * Thrown by a handler: not now. The task is given back and due after `delay`; the attempt is not
 * counted, so that a task may be put off as often as it has to be.
 */
export class Snooze extends Error {
  static {
    holdAcrossCopies(Snooze, 'Snooze');
  }

  /** Milliseconds; negative means at once. */
  readonly delay: number;

  /**
   * @param delay whole milliseconds until it is due
   * @throws FencepostError `INVALID_ARGUMENT` when `delay` is not a whole number
   */
  constructor(delay: number, message?: string, options?: ErrorOptions) {
    if (!Number.isSafeInteger(delay)) {
      throw new FencepostError(
        'INVALID_ARGUMENT',
        `Snooze(delay): expected whole milliseconds, got ${shown(delay)}`,
        { details: { argument: 'delay' } },
      );
    }
    super(message ?? `due again after ${delay} ms`, options);
    this.delay = delay;
  }

  override get name(): string {
    return 'Snooze';
  }
}

/** Marks what is made by a class, and lets the class know it by the mark. */
function holdAcrossCopies(made: { prototype: object }, name: string): void {
  const mark = Symbol.for(`fencepost.${name}`);
  Object.defineProperty(made.prototype, mark, { value: true });
  Object.defineProperty(made, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this === made) return typeof value === 'object' && value !== null && mark in value;
      // A class that somebody derived from it.
      return Function.prototype[Symbol.hasInstance].call(this as object, value);
    },
  });
}

const SHOWN_CHARS_MAX = 100;

/**
 * A value as it may stand in a message: short, on one line, and without anything that a terminal or
 * a log would obey. Objects are named by kind only, so no getter of the user runs.
 */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return isArray(value) ? 'an array' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** A proxy that was revoked cannot even be asked. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** A text in quotes, cut to a readable length, with everything invisible or directional escaped. */
export function quote(text: string): string {
  const cut = text.length > SHOWN_CHARS_MAX ? text.slice(0, SHOWN_CHARS_MAX) : text;
  const escaped = cut.replace(/["\\]|[\p{C}\p{Zl}\p{Zp}]/gu, escapeCharacter);
  return cut === text ? `"${escaped}"` : `"${escaped}…" (${text.length} characters)`;
}

function escapeCharacter(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  const code = character.codePointAt(0) ?? 0;
  return `\\u{${code.toString(16)}}`;
}
