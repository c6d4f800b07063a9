/**
 * Tells that there may be news: to watchers here, and to other tabs and workers over a
 * BroadcastChannel. Hints make things faster, never correct, so every failure is silent.
 */
export class Hints {
  #channel: BroadcastChannel | null;
  readonly #watchers = new Set<{ onNews: () => void }>();

  constructor(name: string) {
    this.#channel = openChannel(name);
    if (this.#channel !== null) this.#channel.onmessage = () => this.#tell();
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
