/**
 * Whether there is a network, as far as the browser knows. Where nobody knows, there is one.
 */
interface Network {
  navigator?: { onLine?: boolean };
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

export function isOnline(): boolean {
  return (globalThis as Network).navigator?.onLine !== false;
}

/** Calls `wake` when the network comes. Returns the way to stop it. */
export function onOnline(wake: () => void): () => void {
  const network = globalThis as Network;
  network.addEventListener?.('online', wake);
  return () => network.removeEventListener?.('online', wake);
}
