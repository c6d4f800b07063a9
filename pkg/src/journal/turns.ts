/**
 * One piece of work after the other, in the order of asking. What one of them throws goes to its
 * own caller and does not stop the next.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
