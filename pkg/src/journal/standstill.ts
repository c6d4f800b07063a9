/**
 * Notices that the page is about to stand still, and that it goes on: it is frozen, or put away
 * because its tab shows another page.
 *
 * A page that stands still with a transaction open keeps every other tab waiting, for as long as
 * it stands still. So whoever has one undoes it on `onBegin`, and begins again when `over` is.
 *
 * Workers are told nothing, by no browser.
 */
interface Events {
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

type Listening = readonly [target: Events, type: string, listener: (event: Event) => void];

export class Standstill {
  readonly #onBegin: () => void;
  readonly #onEnd: () => void;
  readonly #listening: readonly Listening[];
  #over: { promise: Promise<void>; resolve: () => void } | null = null;

  constructor(onBegin: () => void, onEnd: () => void = () => undefined) {
    this.#onBegin = onBegin;
    this.#onEnd = onEnd;
    this.#listening = this.#listen();
  }

  /** Resolves when the page goes on; at once while it does not stand still. */
  get over(): Promise<void> {
    return this.#over?.promise ?? Promise.resolve();
  }

  close(): void {
    for (const [target, type, listener] of this.#listening) {
      target.removeEventListener(type, listener);
    }
    this.#over?.resolve();
    this.#over = null;
  }

  #listen(): Listening[] {
    const { document } = globalThis as { document?: Events };
    if (document === undefined) return [];
    const begin = () => this.#begin();
    const end = () => this.#end();
    const listening: Listening[] = [
      [document, 'freeze', begin],
      [document, 'resume', end],
      // Also without these words some browsers put a page away as it is.
      [globalThis, 'pagehide', (event) => (event as PageTransitionEvent).persisted && begin()],
      [globalThis, 'pageshow', end],
    ];
    for (const [target, type, listener] of listening) target.addEventListener(type, listener);
    return listening;
  }

  #begin(): void {
    if (this.#over !== null) return;
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#over = { promise, resolve };
    this.#onBegin();
  }

  #end(): void {
    if (this.#over === null) return;
    this.#over.resolve();
    this.#over = null;
    this.#onEnd();
  }
}
