/**
 * Tells that there may be news: to watchers here, and to other tabs and workers over a
 * BroadcastChannel. Hints make things faster, never correct, so every failure is silent.
 *
 * An open channel would keep a page that is left from being put away as it is. So it is closed when
 * the page stands still, and opened again when it goes on; what was missed meanwhile is news then.
 */
import { Standstill } from './standstill.js';

export class Hints {
  readonly #name: string;
  readonly #standstill: Standstill;
  #channel: BroadcastChannel | null = null;
  readonly #watchers = new Set<{ onNews: () => void }>();

  constructor(name: string) {
    this.#name = name;
    this.#open();
    this.#standstill = new Standstill(
      () => this.#closeChannel(),
      () => {
        this.#open();
        this.#tell();
      },
    );
  }

  watch(onNews: () => void): () => void {
    const watcher = { onNews };
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  /** This journal has stored something. */
  send(): void {
    // A channel does not hear itself.
    queueMicrotask(() => this.#tell());
    this.#channel?.postMessage(null);
  }

  close(): void {
    this.#watchers.clear();
    this.#standstill.close();
    this.#closeChannel();
  }

  #open(): void {
    this.#channel ??= openChannel(this.#name);
    if (this.#channel !== null) this.#channel.onmessage = () => this.#tell();
  }

  #closeChannel(): void {
    this.#channel?.close();
    this.#channel = null;
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) {
      if (this.#watchers.has(watcher)) watcher.onNews();
    }
  }
}

function openChannel(name: string): BroadcastChannel | null {
  try {
    const channel = new BroadcastChannel(name);
    // In Node an open channel would keep the process alive.
    (channel as { unref?: () => void }).unref?.();
    return channel;
  } catch {
    return null;
  }
}
