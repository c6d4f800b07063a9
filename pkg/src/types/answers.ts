/** What commands and lists answer. */

/** Why a command did not hold. */
export type RefusalReason =
  | 'gone'
  | 'settled'
  | 'fenced'
  | 'expired'
  | 'held'
  | 'released'
  | 'changed';

/** The command is stored; `version` is that of the store after it. */
export type Committed<T = void> = { ok: true; value: T; version: number };

/** The command did not hold and changed nothing. Not an error: look at `reason`. */
export type Refused = { ok: false; reason: RefusalReason; details?: object };

/** A page of a list; without `cursor` it is the last one. */
export interface Page<T> {
  items: T[];
  cursor?: string;
}
