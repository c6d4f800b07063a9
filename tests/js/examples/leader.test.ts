/** The page's button for leading, on elements that are just good enough for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gate, type Tabs, tabs } from '../package/working-support.js';

class Element extends EventTarget {
  textContent = '';
  hidden = true;
  readonly attributes = new Map<string, string>();

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
}

const elements = { lead: new Element(), leading: new Element(), trouble: new Element() };
const document = { getElementById: (id: keyof typeof elements) => elements[id] };
Object.assign(globalThis, { document, HTMLElement: Element, HTMLButtonElement: Element });
const { setUpLeader } = await import('../../../www/src/leader.js');

/** The button and what is said beside it, for the first of two stores. */
async function page(): Promise<Tabs & { press: () => void; says: () => [string, string] }> {
  const [lead, leading] = [new Element(), new Element()];
  Object.assign(elements, { lead, leading });
  const opened = await tabs();
  setUpLeader(opened.one.store, 'tab');
  return {
    ...opened,
    press: () => void lead.dispatchEvent(new Event('click')),
    says: () => [lead.textContent, leading.textContent],
  };
}

test('a tab that lost its lease offers to lead again, and does', async () => {
  const { one, other, clock, press, says } = await page();
  press();
  await clock.settle();
  assert.match(says().join(), /^Stop leading,leads with token/);
  await clock.freeze(60_000);
  const taken = await other.store.lease('leader').acquire('thief', { ttl: 60_000 });
  await clock.advance(0);
  assert.deepEqual(says(), ['Lead from this tab', 'lost the lease']);
  press();
  await clock.settle();
  assert.deepEqual(says(), ['Stop leading', 'waits until nobody leads']);
  if (taken.ok) await taken.lease.release();
  await clock.settle();
  assert.match(says().join(), /^Stop leading,leads with token/);
  await Promise.all([one.store.close(), other.store.close()]);
});

test('what ends late does not speak for who leads now', async () => {
  const { one, other, clock, press, says } = await page();
  press();
  await clock.settle();
  const { lease } = one.store;
  const gate = new Gate();
  one.store.lease = (name) =>
    Object.assign(lease.call(one.store, name), { hold: async () => gate.opened });
  press();
  press();
  one.store.lease = lease;
  await clock.settle();
  assert.deepEqual(says(), ['Stop leading', 'waits until nobody leads']);
  gate.open();
  await Promise.all([one.store.close(), other.store.close()]);
});
