/** What real browsers do to an open database, and what users of the package see of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from './browser.js';
import { closeQuietly, inEveryBrowser, tabsWith } from './support.js';

/** The requests of commits and of snapshots that store or delete something. */
const REQUESTS = [
  { name: 'journal', method: 'add' },
  { name: 'meta', method: 'put' },
  { name: 'snapshot', method: 'put' },
  { name: 'snapshot', method: 'delete' },
  { name: 'journal', method: 'delete' },
] as const;
const VALUE = 'x'.repeat(200_000);
const PUTS = 16;

inEveryBrowser('a database with faults', (running) => {
  test('deleted under two tabs: both are told, and a new log has larger tokens', async () => {
    const [left, right] = await tabsWith(running().newPage, 'deleted');
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

  for (const { name, method } of REQUESTS) {
    test(`when ${method} of ${name} is refused nothing of the commit counts`, async () => {
      const page = await running().newPage();
      const store = `refused ${method} of ${name}`;
      await call(page, 'openStore', store);
      await call(page, 'refuseNext', name, method);
      // More than is kept without a snapshot: whatever is refused is tried again.
      for (let at = 0; at < PUTS; at += 1) await call(page, 'put', `${at}`, VALUE);
      await page.goto(`${running().server.origin}/`);
      await call(page, 'openStore', store);
      assert.equal(await call(page, 'countValues', PUTS), PUTS);
      await closeQuietly(page);
    });
  }

  test('a commit that a browser completes in part is not acknowledged', async () => {
    const page = await running().newPage();
    await call(page, 'openStore', 'in part');
    await call(page, 'refuseNext', 'journal', 'add', true);
    assert.equal(await call(page, 'tryToPut', 'a', 1), 'JOURNAL_CORRUPT');
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
    await call(page, 'changeHead', 'fencepost:formats', { reader: 3 });
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

  test('an opening behind a stuck deletion is a typed error, and works after it', async () => {
    const [page, other] = [await running().newPage(), await running().newPage()];
    await call(page, 'openStore', 'blocked');
    const before = await call<number>(page, 'takeToken');
    await call(page, 'closeStore');
    await call(other, 'blockDatabase', 'fencepost:blocked');
    const code = await call(page, 'tryToOpen', 'blocked', { timeout: 500 });
    assert.equal(code, 'JOURNAL_UNAVAILABLE');
    await call(other, 'letGo');
    await call(page, 'openStore', 'blocked');
    assert.ok((await call<number>(page, 'takeToken')) > before, 'tokens rise');
    await closeQuietly(page, other);
  });
});
