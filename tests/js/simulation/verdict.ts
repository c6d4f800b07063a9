/** The first promise that a world saw broken. From there on it stands still. */
export class Verdict {
  #broken: string | null = null;

  get broken(): string | null {
    return this.#broken;
  }

  get stands(): boolean {
    return this.#broken === null;
  }

  breaks(promise: string): void {
    this.#broken ??= promise;
  }

  require(holds: boolean, promise: () => string): void {
    if (!holds) this.breaks(promise());
  }
}
