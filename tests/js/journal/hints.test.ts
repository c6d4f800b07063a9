/** Hints of a page that is put away as it is, and comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hints } from '../../../pkg/dist/journal/hints.js';

/** Stands for the page's document while `body` runs, and counts the channels that are open. */
function inPage(body: (page: EventTarget, open: Set<object>) => void): void {
  const page = new EventTarget();
  const open = new Set<object>();
  const scope = globalThis as Record<string, unknown>;
  const before = { ...pick(scope) };
  class CountedChannel {
    onmessage: (() => void) | null = null;
    constructor() {
      open.add(this);
    }
    postMessage(): void {}
    close(): void {
      open.delete(this);
    }
  }
  Object.assign(scope, { document: page, BroadcastChannel: CountedChannel });
  scope.addEventListener = page.addEventListener.bind(page);
  scope.removeEventListener = page.removeEventListener.bind(page);
  try {
    body(page, open);
  } finally {
    Object.assign(scope, before);
  }
}

function pick(scope: Record<string, unknown>): Record<string, unknown> {
  const { document, BroadcastChannel, addEventListener, removeEventListener } = scope;
  return { document, BroadcastChannel, addEventListener, removeEventListener };
}

function transition(type: string): Event {
  return Object.assign(new Event(type), { persisted: true });
}

test('a page that is put away holds no channel, and looks for news when it comes back', () => {
  inPage((page, open) => {
    const hints = new Hints('database');
    let news = 0;
    hints.watch(() => {
      news += 1;
    });
    assert.equal(open.size, 1);
    page.dispatchEvent(transition('pagehide'));
    assert.equal(open.size, 0, 'an open one would cost the page its place');
    assert.equal(news, 0);
    page.dispatchEvent(transition('pageshow'));
    assert.equal(open.size, 1);
    assert.equal(news, 1);
    page.dispatchEvent(transition('freeze'));
    page.dispatchEvent(transition('pagehide'));
    assert.equal(open.size, 0);
    page.dispatchEvent(transition('resume'));
    assert.equal(open.size, 1);
    hints.close();
    page.dispatchEvent(transition('pageshow'));
    assert.equal(open.size, 0, 'a closed one stays closed');
  });
});
