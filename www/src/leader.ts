/** One lease, wanted or not by this tab: leader election. */
import type { Store } from 'fencepost';
import { find } from './dom.js';
import { LEASE_MS } from './protocol.js';

export function setUpLeader(store: Store, tab: string): void {
  const press = find('lead', HTMLButtonElement);
  const shown = find('leading', HTMLElement);
  let wanted: AbortController | null = null;

  press.addEventListener('click', () => {
    if (wanted === null) {
      wanted = new AbortController();
      void lead(wanted.signal);
    } else {
      wanted.abort();
      wanted = null;
    }
    press.setAttribute('aria-pressed', String(wanted !== null));
    press.textContent = wanted === null ? 'Lead from this tab' : 'Stop leading';
  });

  async function lead(signal: AbortSignal): Promise<void> {
    shown.textContent = 'waits until nobody leads';
    const over = store.lease('leader').hold(tab, { ttl: LEASE_MS, signal }, async (lease) => {
      shown.textContent = `leads with token ${lease.token}`;
      await Promise.race([aborted(signal), aborted(lease.signal)]);
    });
    await over.catch(() => undefined);
    shown.textContent = signal.aborted ? '' : 'lost the lease';
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
