/** What the page and the threads of its workers say to each other. */

export interface Job {
  /** How long a task takes, in milliseconds. */
  readonly duration: number;
  /** How many of a hundred attempts fail. */
  readonly failures: number;
}

export interface Start extends Job {
  readonly owner: string;
  /** While its first number is 1, a worker that was told to freeze stands still. */
  readonly ice: Int32Array<SharedArrayBuffer> | undefined;
}

export type Order = { readonly start: Start } | { readonly freeze: true };

/** What a worker tells the page. */
export interface Report {
  readonly doing: string;
  /** That the store refused it: somebody else was granted what it still ran. */
  readonly refusal: string | undefined;
}

/** The store and the queue of this page. */
export const STORE = 'fencepost-demo';
export const QUEUE = 'parcels';
export const LEASE_MS = 5_000;

export interface Parcel {
  readonly number: number;
}
