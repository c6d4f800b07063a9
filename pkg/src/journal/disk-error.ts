/** What a failed system call means in the words of the package. */

import { type ErrorCode, FencepostError, quote } from '../errors.js';
import { isError } from '../realm.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The name of the system's error (`ENOENT`, …), when it has one. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** No room on the disk, in the quota, or below the process's file size limit. */
export function isFull(error: unknown): boolean {
  return FULL.has(systemCode(error) ?? '');
}

/** The error for a step that failed before anything was stored. */
export function nothingStored(error: unknown, doing: string, path: string): FencepostError {
  if (error instanceof FencepostError) return error;
  const code = isFull(error) ? 'JOURNAL_FULL' : 'JOURNAL_UNAVAILABLE';
  return diskError(code, error, `${doing}; nothing was stored`, path, { stored: false });
}

/** The error for what failed behind a step that is done for good. */
export function storedButFailed(error: unknown, doing: string, path: string): FencepostError {
  if (error instanceof FencepostError) return error;
  const code = isFull(error) ? 'JOURNAL_FULL' : 'JOURNAL_UNAVAILABLE';
  return diskError(code, error, doing, path, { stored: true });
}

/** The error for a write of which nobody can say whether it will be there. */
export function outcomeUnknown(error: unknown, doing: string, path: string): FencepostError {
  if (error instanceof FencepostError) return error;
  return diskError('OUTCOME_UNKNOWN', error, `${doing}; the outcome is unknown`, path, {});
}

/** Damage or a foreign file. The file is left as it was. */
export function corrupt(path: string, what: string, offset?: number): FencepostError {
  const where = offset === undefined ? '' : ` at offset ${offset}`;
  return new FencepostError('JOURNAL_CORRUPT', `${quote(path)}${where}: ${what}`, {
    details: offset === undefined ? { path, stored: false } : { path, offset, stored: false },
  });
}

function diskError(
  code: ErrorCode,
  cause: unknown,
  what: string,
  path: string,
  outcome: { stored?: boolean },
): FencepostError {
  const system = systemCode(cause);
  const wanted = 'Node wants --allow-fs-read and --allow-fs-write for it';
  const reason =
    system === 'ERR_ACCESS_DENIED'
      ? `${system}: ${wanted}, with /* while it is missing`
      : (system ?? (isError(cause) ? cause.message : 'an unknown error'));
  const details = { path, ...outcome, ...(system === undefined ? {} : { system }) };
  return new FencepostError(code, `${quote(path)}: ${what} (${reason})`, { cause, details });
}
