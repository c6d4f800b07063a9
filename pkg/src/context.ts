/**
 * The async context of the program: what `AsyncLocalStorage` and its like hand on from a call to
 * all that it sets going.
 *
 * Inside of a store one call finishes the work of others, and a timer serves whoever is due. So
 * what is the user's runs in the context in which it was handed over, and the store's own work in
 * that of `open`.
 */

/** Calls something in a context that was captured. */
export type RunIn = <T>(call: () => T) => T;

/** What an entry imports where that is certain to be there. */
export interface AsyncHooks {
  readonly AsyncLocalStorage: { snapshot?(): RunIn };
}

const here: RunIn = (call) => call();

/** How this runtime captures the present context; where it has none, nothing is captured. */
export function contextOf(hooks?: AsyncHooks): () => RunIn {
  const { AsyncContext, process } = globalThis as {
    AsyncContext?: { Snapshot?: new () => { run: RunIn } };
    process?: { getBuiltinModule?(id: 'node:async_hooks'): AsyncHooks | undefined };
  };
  const Snapshot = AsyncContext?.Snapshot;
  if (Snapshot !== undefined) {
    return () => {
      const snapshot = new Snapshot();
      return (call) => snapshot.run(call);
    };
  }
  // A bundler must not follow this into a browser, hence no import.
  const storage = (hooks ?? process?.getBuiltinModule?.('node:async_hooks'))?.AsyncLocalStorage;
  return () => storage?.snapshot?.() ?? here;
}
