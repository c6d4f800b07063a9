/** A store of which every call to its engine and its clock is counted. */
import { type Journal, memory, type Store } from 'fencepost';
import { openOn } from '../../../pkg/dist/open.js';
import { node } from '../../../pkg/dist/platform/node.js';
import type { Bridge } from '../../../pkg/dist/requests.js';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';

export interface Counted {
  store: Store;
  clock: VirtualClock;
  journal: Journal;
  /** By the name of the method. */
  calls: Map<string, number>;
  /** How many calls `work` makes. */
  count(work: () => Promise<unknown>): Promise<number>;
}

export async function counted(journal: Journal = memory()): Promise<Counted> {
  const calls = new Map<string, number>();
  const note = (name: string) => calls.set(name, (calls.get(name) ?? 0) + 1);
  const module = await node.engine();
  const engine = async () => ({
    create: (options: Parameters<typeof module.create>[0]) => noting(module.create(options), note),
  });
  const clock = virtualClock();
  const watched = {
    now: () => noted(() => clock.now(), note, 'now'),
    monotonic: () => noted(() => clock.monotonic(), note, 'monotonic'),
    setTimer: (ms: number, fn: () => void) => noted(() => clock.setTimer(ms, fn), note, 'setTimer'),
  };
  const store = await openOn({ ...node, engine })('test', { journal, clock: watched, seed: 1n });
  const total = () => [...calls.values()].reduce((sum, times) => sum + times, 0);
  const count = async (work: () => Promise<unknown>) => {
    await clock.settle();
    const before = total();
    await work();
    await clock.settle();
    return total() - before;
  };
  return { store, clock, journal, calls, count };
}

function noted<T>(call: () => T, note: (name: string) => void, name: string): T {
  note(name);
  return call();
}

function noting(engine: Bridge, note: (name: string) => void): Bridge {
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        note(String(name));
        return Reflect.apply(value, target, args);
      };
    },
  });
}
