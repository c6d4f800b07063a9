/** Opening a store with 100 000 tasks. What it took is told, not judged: machines differ. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from './browser.js';
import { inEveryBrowser } from './support.js';

const TASKS = 100_000;
const ROUNDS = 5;

inEveryBrowser('a large store', (running) => {
  test('a hundred thousand tasks are there when it is opened', async (context) => {
    const page = await running().newPage();
    await call(page, 'openStore', 'large');
    await call(page, 'fillWithTasks', TASKS);
    await call(page, 'closeStore');

    await page.goto(`${running().server.origin}/`);
    const opened = await call<{ times_ms: number[]; ready: number }>(
      page,
      'openingTimes',
      'large',
      ROUNDS,
    );
    assert.equal(opened.ready, TASKS);
    const times = opened.times_ms.map((ms) => Math.round(ms)).sort((a, b) => a - b);
    context.diagnostic(`opened in ${times[Math.floor(ROUNDS / 2)]} ms (all: ${times.join(', ')})`);
    await page.close();
  });
});
