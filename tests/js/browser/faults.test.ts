/** What real browsers do to an open database, and what users of the package see of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Page } from './browser.js';
import { chromium } from './chromium.js';
import { inBrowsers, inEveryBrowser } from './support.js';

const FREEZE_MS = 1000 * Number(process.env.FENCEPOST_FREEZE_SECONDS ?? 3);

inEveryBrowser('a database with faults', (running) => {
  test('deleted under two tabs: both are told, and a new log has larger tokens', async () => {
    const [left, right] = await twoTabs(running().newPage, 'deleted');
    assert.equal(await call(left, 'tryToPut', 'a', 1), 'ok');
    const before = await call<number>(right, 'takeToken');

    await call(left, 'deleteDatabase', 'fencepost:deleted');
    assert.equal(await call(left, 'tryToPut', 'a', 2), 'LOG_REPLACED');
    assert.equal(await call(right, 'tryToPut', 'a', 2), 'LOG_REPLACED');

    await call(left, 'openStore', 'deleted');
    assert.equal(await call(left, 'read', 'a'), null);
    const after = await call<number>(left, 'takeToken');
    assert.ok(after > before, `tokens rise: ${before}, ${after}`);
    assert.equal(await call(right, 'tryToPut', 'a', 3), 'LOG_REPLACED', 'the old one stays out');
    await closeQuietly(left, right);
  });

  test('a connection that is lost comes back, and an abort is found out', async () => {
    const page = await running().newPage();
    await call(page, 'openStore', 'lost');
    await call(page, 'loseConnection', 1);
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
    await call(page, 'loseConnection', 2);
    assert.equal(await call(page, 'tryToPut', 'a', 2), 'JOURNAL_UNAVAILABLE');
    assert.equal(await call(page, 'read', 'a'), 1, 'it was not stored');
    await call(page, 'abortNext');
    assert.equal(await call(page, 'tryToPut', 'a', 3), 'ok', 'read again, and sent again');
    assert.equal(await call(page, 'read', 'a'), 3);
    await closeQuietly(page);
  });

  test('a database that cannot be opened is a typed error until it can be', async () => {
    const page = await running().newPage();
    for (const way of ['throw', 'refuse', 'hang']) {
      await call(page, 'breakOpen', way);
      const code = await call(page, 'tryToOpen', 'closed', { timeout: 500 });
      assert.equal(code, 'JOURNAL_UNAVAILABLE', way);
    }
    await call(page, 'mendOpen');
    await call(page, 'openStore', 'closed');
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
    await closeQuietly(page);
  });

  test('a later format, a damaged head and a foreign database are told apart', async () => {
    const page = await running().newPage();
    await call(page, 'openStore', 'formats');
    await call(page, 'changeHead', 'fencepost:formats', { reader: 2 });
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'FORMAT_TOO_NEW', 'an open tab stays out');
    assert.equal(await call(page, 'tryToOpen', 'formats'), 'FORMAT_TOO_NEW');
    await call(page, 'changeHead', 'fencepost:formats', { reader: 1, slot: 'x' });
    assert.equal(await call(page, 'tryToOpen', 'formats'), 'JOURNAL_CORRUPT');
    await call(page, 'makeForeign', 'fencepost:later', 2);
    assert.equal(await call(page, 'tryToOpen', 'later'), 'FORMAT_TOO_NEW');
    await call(page, 'makeForeign', 'fencepost:foreign', 1);
    assert.equal(await call(page, 'tryToOpen', 'foreign'), 'JOURNAL_CORRUPT');
    await closeQuietly(page);
  });
});

inBrowsers([chromium], 'what DevTools can do', (running) => {
  test('storage cleared under two tabs: both are told, a new log has larger tokens', async () => {
    const [left, right] = await twoTabs(running().newPage, 'cleared');
    const before = await call<number>(right, 'takeToken');
    const { origin } = running().server;
    await left.devtools?.('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    assert.equal(await call(left, 'tryToPut', 'a', 2), 'LOG_REPLACED');
    assert.equal(await call(right, 'tryToPut', 'a', 2), 'LOG_REPLACED');
    await call(right, 'openStore', 'cleared');
    const after = await call<number>(right, 'takeToken');
    assert.ok(after > before, `tokens rise: ${before}, ${after}`);
    await closeQuietly(left, right);
  });

  test('a frozen tab loses its claim, others go on meanwhile', async () => {
    const [frozen, other] = await twoTabs(running().newPage, 'frozen');
    await call(frozen, 'enqueue', 'work');
    const [mine] = await call<{ id: number }[]>(frozen, 'claim', 'frozen', { lease: 500 });
    await frozen.devtools?.('Page.setWebLifecycleState', { state: 'frozen' });
    await sleep(FREEZE_MS);
    const [theirs] = await call<{ id: number; attempt: number }[]>(other, 'claim', 'other');
    assert.equal(theirs?.id, mine?.id);
    assert.equal(theirs?.attempt, 2);
    await frozen.devtools?.('Page.setWebLifecycleState', { state: 'active' });
    const stoodStill = await call<number>(frozen, 'longestGap');
    assert.ok(stoodStill > FREEZE_MS / 2, `it was frozen, for ${stoodStill} ms`);
    assert.equal(await call(frozen, 'complete', mine?.id), 'fenced');
    assert.equal(await call(other, 'complete', theirs?.id), true);
    await closeQuietly(frozen, other);
  });
});

async function twoTabs(newPage: () => Promise<Page>, store: string): Promise<[Page, Page]> {
  const pages: [Page, Page] = [await newPage(), await newPage()];
  for (const page of pages) await call(page, 'openStore', store);
  return pages;
}

/** Nothing may have been left unhandled. */
async function closeQuietly(...pages: Page[]): Promise<void> {
  for (const page of pages) {
    assert.deepEqual(await call(page, 'complaintsOfPage'), []);
    await page.close();
  }
}
