/** Pages of lists, as users see them. */
import type { PageReply } from './requests.js';
import type { Page } from './types.js';

/** The last page has no cursor. */
export function pageOf<Reply, Item>(
  { items, more }: PageReply<Reply>,
  read: (reply: Reply) => Item,
  cursorOf: (reply: Reply) => string,
): Page<Item> {
  const last = items.at(-1);
  const page: Page<Item> = { items: items.map(read) };
  if (more && last !== undefined) page.cursor = cursorOf(last);
  return page;
}
