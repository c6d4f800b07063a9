/** The package in every browser, with the journal that it chooses itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from './browser.js';
import { inEveryBrowser } from './support.js';

interface Claimed {
  id: number;
  token: number;
  payload: unknown;
  attempt: number;
}

inEveryBrowser('a store', (running) => {
  test('what was committed is there after the page was loaded again', async () => {
    const page = await running().newPage();
    const logId = await call<string>(page, 'openStore', 'reloaded');
    await call(page, 'enqueue', 'first');
    await call(page, 'enqueue', 'second');
    const [first] = await call<Claimed[]>(page, 'claim', 'before');
    assert.equal(first?.payload, 'first');
    assert.equal(await call(page, 'complete', first.id), true);

    await page.goto(`${running().server.origin}/`);
    assert.equal(await call(page, 'openStore', 'reloaded'), logId);
    const [second, ...others] = await call<Claimed[]>(page, 'claim', 'after', { max: 10 });
    assert.equal(second?.payload, 'second');
    assert.deepEqual(others, []);
    assert.ok(second.token > first.token, 'tokens rise over the reload');
    assert.equal(await call(page, 'complete', second.id), true);
    assert.deepEqual(await call(page, 'claim', 'after'), []);
    await page.close();
  });

  test('a task goes to one of two tabs, and each sees what the other committed', async () => {
    const pages = await Promise.all([running().newPage(), running().newPage()]);
    const [left, right] = pages;
    const logIds = await Promise.all(pages.map((page) => call(page, 'openStore', 'two tabs')));
    assert.equal(logIds[0], logIds[1], 'two that open at once agree on one log');

    await call(left, 'put', 'color', 'green');
    assert.equal(await call(right, 'read', 'color'), 'green');
    await call(left, 'enqueue', 'once');
    const claims = await Promise.all([
      call<Claimed[]>(left, 'claim', 'left'),
      call<Claimed[]>(right, 'claim', 'right'),
    ]);
    assert.deepEqual(claims.map(({ length }) => length).sort(), [0, 1]);
    const holder = claims[0].length === 1 ? left : right;
    const other = holder === left ? right : left;
    const id = claims.flat()[0]?.id;
    assert.equal(await call(holder, 'complete', id), true);
    assert.deepEqual(await call(other, 'claim', 'other'), []);
    await Promise.all(pages.map((page) => page.close()));
  });
});
