/** What a failure of IndexedDB means in the words of the package. */

import { type ErrorCode, FencepostError, quote } from '../errors.js';
import { isError } from '../realm.js';

/** The name of what the platform threw (`QuotaExceededError`, …), when it has one. */
export function platformName(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('name' in error)) return undefined;
  return typeof error.name === 'string' ? error.name : undefined;
}

/** The database cannot be opened: nothing was stored. */
export function cannotOpen(error: unknown, database: string): FencepostError {
  if (error instanceof FencepostError) return error;
  const name = platformName(error);
  if (name === 'VersionError') {
    return failure('FORMAT_TOO_NEW', error, 'is of a later format', database, { stored: false });
  }
  if (name === 'NotFoundError') return corrupt(database, 'it is no journal');
  const why =
    name === 'InvalidStateError' || name === 'SecurityError'
      ? 'cannot be opened: this window is private, or storage is blocked'
      : 'cannot be opened';
  return failure(codeOf(error), error, why, database, { stored: false });
}

/** A step failed before anything was stored. */
export function nothingStored(error: unknown, database: string): FencepostError {
  if (error instanceof FencepostError) return error;
  const what = 'failed; nothing was stored';
  return failure(codeOf(error), error, what, database, { stored: false });
}

/**
 * A transaction that wrote something has ended with `abort`.
 *
 * The trap: a browser that lost its database process tells `abort` too, and the commit may have
 * arrived there before. Only what a full disk or quota refused is known to be undone.
 */
export function aborted(error: unknown, database: string): FencepostError {
  if (isFull(error)) return nothingStored(error, database);
  const what = 'ended a write with an abort; the outcome is unknown';
  return failure('OUTCOME_UNKNOWN', error, what, database, {});
}

/** A transaction is complete although a request of it was refused. */
export function storedInPart(error: unknown, database: string): FencepostError {
  return failure('OUTCOME_UNKNOWN', error, 'stored a part of a write at most', database, {});
}

/** Damage, or another program's data. It is left as it is. */
export function corrupt(database: string, what: string): FencepostError {
  return new FencepostError('JOURNAL_CORRUPT', `the database ${quote(database)}: ${what}`, {
    details: { database, stored: false },
  });
}

function isFull(error: unknown): boolean {
  return platformName(error) === 'QuotaExceededError';
}

function codeOf(error: unknown): ErrorCode {
  return isFull(error) ? 'JOURNAL_FULL' : 'JOURNAL_UNAVAILABLE';
}

function failure(
  code: ErrorCode,
  cause: unknown,
  what: string,
  database: string,
  outcome: { stored?: boolean },
): FencepostError {
  const system = platformName(cause);
  const reason = isError(cause) ? `${system}: ${cause.message}` : 'no reason was given';
  const details = { database, ...outcome, ...(system === undefined ? {} : { system }) };
  const message = `the database ${quote(database)} ${what} (${reason})`;
  return new FencepostError(code, message, { cause, details });
}
