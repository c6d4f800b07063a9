/** What is kept of an error as text: its name, its message, and what caused it. */
import { FencepostError, NonRetriable, RetryAfter, Snooze, shown } from './errors.js';
import { isError } from './realm.js';

/** Of a chain of causes; the engine cuts the text at 4 KiB besides. */
const CAUSES_MAX = 8;

/**
 * The text of what a handler threw or `fail` was given: absent when there is none. An error is its
 * message, behind its name where that says something, and a line for each cause.
 */
export function errorText(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  try {
    return chainOf(error).map(textOf).join('\ncaused by ');
  } catch {
    // An error of the user's own making, that throws when it is looked at.
    return shown(error);
  }
}

function chainOf(error: unknown): unknown[] {
  const chain = [error];
  let last = error;
  while (isError(last) && chain.length <= CAUSES_MAX) {
    const next: unknown = last.cause ?? (last as { errors?: readonly unknown[] }).errors?.[0];
    if (next === undefined || next === null || chain.includes(next)) break;
    chain.push(next);
    last = next;
  }
  return chain;
}

function textOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isError(error)) return JSON.stringify(error) ?? shown(error);
  const { code } = error as { code?: unknown };
  const message = String(error.message) || (typeof code === 'string' ? code : '');
  const name = String(error.name);
  return isPlain(error) || name === 'Error' || name === '' ? message : `${name}: ${message}`;
}

/** The package's own errors say all in their message. */
function isPlain(error: Error): boolean {
  const own = [FencepostError, NonRetriable, RetryAfter, Snooze];
  return own.some((made) => error instanceof made);
}
