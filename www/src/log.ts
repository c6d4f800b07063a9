/** The newest events of the store, whichever tab they come from. */
import type { Store, StoreEvent } from 'fencepost';
import { find, make } from './dom.js';

const LINES_MAX = 200;

/** Follows the store's events until it is closed; `changed` is called after each. */
export async function followLog(store: Store, changed: () => void): Promise<void> {
  const list = find('log', HTMLOListElement);
  for await (const event of store.events()) {
    list.prepend(make('li', line(event)));
    while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove();
    changed();
  }
}

function line({
  version,
  at,
  type,
  queue,
  id,
  name,
  key,
  owner,
  token,
  reason,
}: StoreEvent): string {
  const time = new Date(at).toLocaleTimeString();
  const what = id === undefined ? (name ?? key ?? queue ?? '') : `task ${id}`;
  const by = owner === undefined ? '' : ` by ${owner}`;
  const fence = token === undefined ? '' : `, token ${token}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${String(version).padStart(6)}  ${time}  ${type} ${what}${by}${fence}${why}`;
}
