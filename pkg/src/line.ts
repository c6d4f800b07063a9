/**
 * Lines of waiters, one for each name that somebody waits for: who asked first is served first.
 *
 * **Invariant**: there is a first one in every line, and it has been told that it is.
 */

/** Whoever stands in a line. */
export interface Waiter {
  /** It is the first one now, or it shall look again. */
  wake(): void;
  /** Tries now, if it is the first one; resolves when it has, or has left. */
  tryNow(): Promise<void>;
}

export class Lines {
  readonly #lines = new Map<string, Waiter[]>();

  isEmpty(name: string): boolean {
    return !this.#lines.has(name);
  }

  first(name: string): Waiter | undefined {
    return this.#lines.get(name)?.[0];
  }

  join(name: string, waiter: Waiter): void {
    const line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, [waiter]);
    else line.push(waiter);
  }

  leave(name: string, waiter: Waiter): void {
    const line = this.#lines.get(name);
    const place = line?.indexOf(waiter) ?? -1;
    if (line === undefined || place < 0) return;
    line.splice(place, 1);
    if (line.length === 0) this.#lines.delete(name);
    else if (place === 0) line[0]?.wake();
  }
}
