/**
 * The content of a lock's file: one line of JSON. Its first two fields are of one length whatever
 * they say, so that they can be replaced in place.
 */
import type { Holder } from './holder.js';
import type { Lifeline, Line } from './lifeline.js';

export interface Mark extends Holder {
  /** The newest token before this holder's first; null as long as it has granted none. */
  since: number | null;
  /** Absent where there could be none. */
  lifeline?: Line;
}

const HELD = '{"state":"held",';
export const FREE = '{"state":"free",';
/** Where `sinceField` goes. */
export const SINCE_AT = HELD.length;

export function encodeMark({ since, ...holder }: Mark, lifeline: Lifeline | null): string {
  const line = lifeline && { kind: lifeline.kind, name: lifeline.name };
  const rest = JSON.stringify({ ...holder, ...(line && { lifeline: line }) }).slice(1);
  return `${HELD}${sinceField(since)}${rest}\n`;
}

export function sinceField(since: number | null): string {
  return `"since":"${String(since ?? '').padStart(16)}",`;
}

/** Null for what is no such line, or not a whole one. */
export function parseMark(text: string): Mark | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { pid, openedAt, lifeline, since } = value;
  if (!Number.isSafeInteger(pid) || !Number.isFinite(openedAt)) return null;
  const texts = ['host', 'boot', 'namespace', 'started', 'platform'].map((name) => value[name]);
  if (texts.some((field) => typeof field !== 'string')) return null;
  const { name } = (lifeline ?? { name: 'lock.live-' }) as Partial<Line>;
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name)) return null;
  return { ...value, since: tokenOf(since) } as Mark;
}

function tokenOf(since: unknown): number | null {
  const token = typeof since === 'string' ? Number.parseInt(since, 10) : Number.NaN;
  return Number.isSafeInteger(token) ? token : null;
}
