/** Pages of lists, as the engine is asked for them. */
import type { FullName, TaskState } from './requests.js';

/** Which way a list of tasks goes, in the order of the engine's numbers. */
export const ORDERS = ['asc', 'desc'] as const;
export type Order = (typeof ORDERS)[number];

export interface TaskListRequest {
  readonly queue: FullName;
  readonly state: TaskState | undefined;
  readonly order: Order;
  /** The id behind which the page begins; `NaN`: at the beginning. */
  readonly cursor: number;
  readonly limit: number;
}

export interface NameListRequest {
  readonly prefix: string;
  readonly cursor: string | undefined;
  readonly limit: number;
}
