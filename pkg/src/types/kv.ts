/** Key-value rows, and writes that ride on other commands. */
import type { Page } from './answers.js';

declare const isWrite: unique symbol;

/** A key-value write or check that rides on another command. Made by `put`, `del` and `check`. */
export interface Write {
  readonly [isWrite]: true;
}

/** Small JSON values beside the queues, in the same log. */
export interface Kv {
  get<T = unknown>(key: string): Promise<{ key: string; value: T; version: number } | null>;
  put(key: string, value: unknown): Promise<{ version: number }>;
  /** Whether it was there. */
  delete(key: string): Promise<boolean>;
  /** In key order. `limit`: default 100, at most 1 000 and 16 MiB. */
  list<T = unknown>(options?: {
    prefix?: string;
    cursor?: string;
    limit?: number;
  }): Promise<Page<{ key: string; value: T; version: number }>>;
}
