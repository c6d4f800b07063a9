/**
 * Listening to the user's signals: one listener for each, however many wait for it, so that a
 * runtime does not warn of a leak.
 */
const heard = new WeakMap<AbortSignal, { calls: Set<() => void>; listener: () => void }>();

/** Calls `call` when the signal aborts. Returns the way to stop it. */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let known = heard.get(signal);
  if (known === undefined) {
    const calls = new Set<() => void>();
    const listener = () => {
      for (const each of [...calls]) each();
    };
    // A signal of the user's own making may refuse.
    signal.addEventListener('abort', listener);
    known = { calls, listener };
    heard.set(signal, known);
  }
  const { calls, listener } = known;
  const entry = () => call();
  calls.add(entry);
  return () => {
    if (!calls.delete(entry) || calls.size > 0) return;
    heard.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}
