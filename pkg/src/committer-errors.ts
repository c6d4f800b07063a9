/** What the committer says when a journal fails. */
import { FencepostError } from './errors.js';
import { messageOf } from './realm.js';

export function storeClosed(): FencepostError {
  return new FencepostError('STORE_CLOSED', 'the store is closed');
}

/** What the log has turned out to be ends the store. */
export function isOfTheLog(error: unknown): error is FencepostError {
  return error instanceof FencepostError && error.kind === 'data';
}

/** The same, thrown where it is told. */
export function toldAgain(cause: FencepostError): FencepostError {
  const { code, message, details } = cause;
  return new FencepostError(code, message, { details, cause });
}

export function knowsNothingStored(error: unknown): boolean {
  return error instanceof FencepostError && error.details.stored === false;
}

export function unavailable(message: string, cause?: unknown): FencepostError {
  return new FencepostError('JOURNAL_UNAVAILABLE', message, {
    details: { stored: false },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Some browsers say nothing at all when the disk is full. */
export function noAnswer(timeout: number): string {
  return `the journal gave no answer within ${timeout} ms; a full disk may be why`;
}

/** What a journal threw, as an error of the package. */
export function typed(error: unknown, what: string): FencepostError {
  if (error instanceof FencepostError) return error;
  const message = messageOf(error);
  return unavailable(`the journal failed to ${what}: ${message}`, error);
}

/** A journal of the user's own that does what none may do. */
export function breach(what: string): FencepostError {
  const contract = 'commit(after, decide) calls decide with the news behind after, then resolves';
  return new FencepostError('INVALID_ARGUMENT', `journal: its commit ${what}; ${contract}`, {
    details: { argument: 'journal' },
  });
}

/** What it gave as news could not even be read. */
export function typedNews(error: unknown): FencepostError {
  if (error instanceof FencepostError) return error;
  const message = `the journal gave news that cannot be read: ${messageOf(error)}`;
  return new FencepostError('JOURNAL_CORRUPT', message, { cause: error });
}

export function outcomeUnknown(cause: unknown): FencepostError {
  const message = 'whether the journal stored the command is not known';
  return new FencepostError('OUTCOME_UNKNOWN', message, { cause });
}
