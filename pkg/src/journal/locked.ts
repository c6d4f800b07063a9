/** The refusal of a lock that somebody holds: who it is, and what can be done. */
import { FencepostError, quote } from '../errors.js';
import type { Mark } from './lock-mark.js';

export interface Found {
  /** The lock's file. */
  readonly path: string;
  /** Null when it cannot be read. */
  readonly mark: Mark | null;
  /** Whether this very process holds it. */
  readonly isOwn: boolean;
}

export function locked({ path, mark, isOwn }: Found): FencepostError {
  const holder = mark && { pid: mark.pid, host: mark.host, openedAt: mark.openedAt };
  return new FencepostError(
    'JOURNAL_LOCKED',
    `the journal is held by ${described(mark, isOwn)}; ${remedy(path, isOwn)}`,
    { details: { path, stored: false, ...(holder && { holder }) } },
  );
}

function described(mark: Mark | null, isOwn: boolean): string {
  if (mark === null) return 'a holder that cannot be told';
  const self = isOwn ? 'this very ' : '';
  const since = new Date(mark.openedAt).toISOString();
  return `${self}process ${mark.pid} on host ${quote(mark.host)}, since ${since}`;
}

function remedy(path: string, isOwn: boolean): string {
  if (isOwn) {
    return 'use the store that is open, or close it: open it once, in one module, and import that';
  }
  return (
    'wait for it with file(path, { lockWait }), or close it there; if no process of any machine ' +
    `or container that shares the directory has it open any more, delete ${quote(path)} ` +
    'or open with takeOver: true'
  );
}
