/** What the tests of workers share: two stores on one log, and handlers that are let go by hand. */
import { FencepostError, memory, open, type Queue, type Store } from 'fencepost';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';
import { type FaultyJournal, faulty, type Operation } from '../../../pkg/dist/testing/faulty.js';

export const HOUR = 3_600_000;

export interface Tab {
  store: Store;
  queue: Queue<unknown, unknown>;
}

export interface Tabs {
  clock: VirtualClock;
  /** That of the first one; the log behind it is common to all. */
  journal: FaultyJournal;
  /** While it is true, every commit of the first one is refused. */
  outage: { isOn: boolean };
  one: Tab;
  other: Tab;
}

/** Two stores on one log, each with a queue whose tasks retry after a second. */
export async function tabs(): Promise<Tabs> {
  const [clock, inner] = [virtualClock(), memory()];
  const outage = { isOn: false };
  const choose = (operation: Operation) =>
    outage.isOn && operation === 'commit' ? ('refuse' as const) : null;
  const journal = faulty(inner, { choose });
  const tab = async (seed: bigint, own = inner): Promise<Tab> => {
    const store = await open('test', { clock, journal: own, seed });
    const backoff = { base: 1_000, jitter: 'none' } as const;
    return { store, queue: store.queue('mail', { backoff }) };
  };
  return { clock, journal, outage, one: await tab(1n, journal), other: await tab(2n) };
}

/** Something to wait for, and the way to let it go on. */
export class Gate<T = void> {
  readonly opened: Promise<T>;
  open!: (value: T) => void;
  fail!: (error: unknown) => void;

  constructor() {
    this.opened = new Promise((resolve, reject) => {
      this.open = resolve;
      this.fail = reject;
    });
    this.opened.catch(() => undefined);
  }
}

/** The code of what aborted a signal; null while nothing has. */
export function reasonOf(signal: AbortSignal | undefined): string | null {
  if (signal?.aborted !== true) return null;
  return signal.reason instanceof FencepostError ? signal.reason.code : String(signal.reason);
}
