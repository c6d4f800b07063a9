/** The IndexedDB journal passes the suite that every journal has to pass, in every browser. */
import { before, test } from 'node:test';
import { memory } from 'fencepost';
import { journalConformance } from 'fencepost/testing';
import { call, type Page } from './browser.js';
import { inEveryBrowser } from './support.js';

const names: string[] = [];
journalConformance(() => ({ journal: memory }), {
  test: (name) => names.push(name),
  shared: true,
});

inEveryBrowser('the IndexedDB journal', (running) => {
  let page: Page;
  before(async () => {
    page = await running().newPage();
  });
  for (const name of names) {
    test(name, () => call(page, 'conformanceCase', name, 'strict'));
  }
});
