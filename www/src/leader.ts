/** One lease, wanted or not by this tab: leader election. */
import type { Store } from 'fencepost';
import { find } from './dom.js';
import { LEASE_MS } from './protocol.js';
import { show } from './trouble.js';

export function setUpLeader(store: Store, tab: string): void {
  const press = find('lead', HTMLButtonElement);
  const shown = find('leading', HTMLElement);
  /** Of the newest press; null when this tab does not want to lead. */
  let wanted: AbortController | null = null;
  /** The newest one that was wanted: only it says how it goes. */
  let newest: AbortController | null = null;

  press.addEventListener('click', () => {
    const before = wanted;
    wanted = before === null ? new AbortController() : null;
    drawPress();
    before?.abort();
    if (wanted !== null) void lead(wanted);
  });

  function drawPress(): void {
    press.setAttribute('aria-pressed', String(wanted !== null));
    press.textContent = wanted === null ? 'Lead from this tab' : 'Stop leading';
  }

  async function lead(mine: AbortController): Promise<void> {
    const { signal } = mine;
    newest = mine;
    const say = (text: string) => {
      if (newest === mine) shown.textContent = text;
    };
    say('waits until nobody leads');
    try {
      await store.lease('leader').hold(tab, { ttl: LEASE_MS, signal }, async (lease) => {
        say(`leads with token ${lease.token}`);
        await Promise.race([aborted(signal), aborted(lease.signal)]);
      });
    } catch (error) {
      if (!signal.aborted) show(error);
    } finally {
      say(signal.aborted ? '' : 'lost the lease');
      if (wanted === mine) {
        wanted = null;
        drawPress();
      }
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
