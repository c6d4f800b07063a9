/** What a page goes through while its store is open. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from './browser.js';
import { firefoxWith } from './firefox.js';
import { chosenKinds, closeQuietly, inBrowsers, inEveryBrowser, tabsWith } from './support.js';

const RETRY_MS = 1_500;

inEveryBrowser('the life of a page', (running) => {
  test('a page that was left and is returned to goes on with its store', async (context) => {
    const [page, other] = await tabsWith(running().newPage, 'returned');
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
    await page.goto(`${running().server.origin}/?elsewhere`);
    assert.equal(await call(other, 'tryToPut', 'a', 2), 'ok');
    await page.back();
    const isKept = (await call<number>(page, 'returnsOfPage')) > 0;
    if (!isKept) await call(page, 'openStore', 'returned');
    assert.equal(await call(page, 'read', 'a'), 2, 'it reads what happened meanwhile');
    assert.equal(await call(page, 'tryToPut', 'a', 3), 'ok');
    assert.equal(await call(other, 'read', 'a'), 3);
    context.diagnostic(isKept ? 'the page was kept, with its store' : 'the page was loaded anew');
    await closeQuietly(page, other);
  });

  test('a page that was left does not hold up the deletion of its database', async () => {
    const [page, other] = await tabsWith(running().newPage, 'left');
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
    await page.goto(`${running().server.origin}/?elsewhere`);
    await call(other, 'deleteDatabase', 'fencepost:left');
    assert.equal(await call(other, 'tryToPut', 'a', 2), 'LOG_REPLACED');
    await page.back();
    if ((await call<number>(page, 'returnsOfPage')) > 0) {
      assert.equal(await call(page, 'tryToPut', 'a', 2), 'LOG_REPLACED');
    }
    await call(page, 'openStore', 'left');
    assert.equal(await call(page, 'tryToPut', 'a', 3), 'ok');
    await closeQuietly(page, other);
  });

  test('two triggers of one turn enqueue once, claim once and complete once', async () => {
    const page = await running().newPage();
    await call(page, 'openStore', 'twice');
    const { ids, claimed, outcomes } = await call<{
      ids: number[];
      claimed: number;
      outcomes: unknown[];
    }>(page, 'twoInOneTurn');
    assert.equal(ids[0], ids[1]);
    assert.equal(claimed, 1);
    assert.deepEqual(outcomes, [true, 'gone']);
    await closeQuietly(page);
  });

  test('two stores of one name in one page leave nothing behind when one is closed', async () => {
    const page = await running().newPage();
    assert.equal(await call(page, 'mountTwice', 'mounted'), 'still');
    await closeQuietly(page);
  });

  test('a failed task is tried again after a reload, though nothing is written', async () => {
    const page = await running().newPage();
    await call(page, 'openStore', 'retried');
    await call(page, 'failOne', RETRY_MS);
    await page.goto(`${running().server.origin}/`);
    await call(page, 'openStore', 'retried');
    assert.equal(await call(page, 'claimRetried'), 2);
    await closeQuietly(page);
  });
});

const [privateFirefox] = chosenKinds([firefoxWith({ 'browser.privatebrowsing.autostart': true })]);
if (privateFirefox !== undefined) {
  inBrowsers([privateFirefox], 'a private window', (running) => {
    test('a store works in it as anywhere', async () => {
      const [left, right] = await tabsWith(running().newPage, 'private');
      assert.equal(await call(left, 'tryToPut', 'a', 1), 'ok');
      assert.equal(await call(right, 'read', 'a'), 1);
      await closeQuietly(left, right);
    });
  });
}
