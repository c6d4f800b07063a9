/** The IndexedDB journal passes the suite that every journal has to pass, in every browser. */
import { before, test } from 'node:test';
import { memory } from '../../../pkg/src/journal/memory.js';
import { journalConformance } from '../../../pkg/src/testing/conformance.js';
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
