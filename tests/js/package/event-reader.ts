/** Reading a store's events, one by one. */
import assert from 'node:assert/strict';
import type { Journal, Store, StoreEvent } from 'fencepost';

export type Reader = AsyncIterator<StoreEvent>;

export function reader(store: Store, options?: { from?: number; signal?: AbortSignal }): Reader {
  return store.events(options)[Symbol.asyncIterator]();
}

/** The next `count` events, which must be there. */
export async function take(events: Reader, count: number): Promise<StoreEvent[]> {
  const taken: StoreEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done === true) assert.fail(`ended after ${taken.length} of ${count} events`);
    taken.push(value);
  }
  return taken;
}

/** What is left, up to the end. */
export async function rest(events: Reader): Promise<StoreEvent[]> {
  const left: StoreEvent[] = [];
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    left.push(next.value);
  }
  return left;
}

export async function isOver(events: Reader): Promise<void> {
  assert.deepEqual(await events.next(), { done: true, value: undefined });
}

export const typesOf = (events: StoreEvent[]) => events.map(({ type }) => type);
export const keysOf = (events: StoreEvent[]) => events.map(({ type, key }) => key ?? type);

/** A store on it learns of other writers when it asks. */
export function withoutHints(journal: Journal): Journal {
  return {
    open: (name, options) => journal.open(name, options),
    commit: (after, decide) => journal.commit(after, decide),
    compact: (slot, snapshot) => journal.compact(slot, snapshot),
    close: () => journal.close(),
  };
}

export async function putMany(store: Store, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await store.kv.put('k', done);
}
