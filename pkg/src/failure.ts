/** What those who work in the background make of errors: which pass, and which end them. */

import { FencepostError, NonRetriable, RetryAfter, Snooze } from './errors.js';
import { isError } from './realm.js';

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

/** How long to wait after so many failures in a row, from 1. */
export function pauseAfter(failures: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(failures - 1, 10));
}

/** The same may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof FencepostError)) return false;
  return error.kind === 'unavailable' || error.code === 'ENGINE_CRASHED';
}

/** Going on makes no sense: the store is another one, or closed, or the caller may not. */
export function isFatal(error: unknown): error is FencepostError {
  if (!(error instanceof FencepostError)) return false;
  return error.kind === 'data' || error.kind === 'denied' || error.code === 'STORE_CLOSED';
}

/**
 * What a handler's error says about the next attempt.
 *
 * The trap: a program may load the package twice, as a module and by `require`, say, and an error
 * of one copy is no instance of the other's class. So the name counts.
 */
export function verdictOf(error: unknown): { final?: true; delay?: number } {
  try {
    return readVerdict(error);
  } catch {
    // An error of the user's own making, that throws when it is looked at.
    return {};
  }
}

/** For how long a handler puts its task off, if that is what it threw. */
export function snoozeOf(error: unknown): number | undefined {
  try {
    const isSnooze = isError(error) && (error instanceof Snooze || error.name === 'Snooze');
    const delay = isSnooze ? (error as Partial<Snooze>).delay : undefined;
    return Number.isSafeInteger(delay) ? delay : undefined;
  } catch {
    return undefined;
  }
}

function readVerdict(error: unknown): { final?: true; delay?: number } {
  if (!isError(error)) return {};
  if (error instanceof NonRetriable || error.name === 'NonRetriable') return { final: true };
  if (!(error instanceof RetryAfter || error.name === 'RetryAfter')) return {};
  const { delay } = error as Partial<RetryAfter>;
  return Number.isSafeInteger(delay) ? { delay: delay as number } : {};
}
