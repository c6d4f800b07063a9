/** The browser's quickstart, opened as it lies in the repository. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from './browser.js';
import { chromium } from './chromium.js';
import { inBrowsers } from './support.js';

const EXAMPLE = '/examples/browser-quickstart.html';
const OUTPUT =
  /^photo-\d+\.jpg, attempt 1\n\{("(scheduled|ready|inflight|done|dead|lapsed)":0,?){6}\}$/;
const MS_MAX = 20_000;

inBrowsers([chromium], 'the quickstart', (running) => {
  test('it works off what it enqueued, and again after a reload', async () => {
    const page = await running().newPage();
    for (let visit = 1; visit <= 2; visit += 1) {
      await page.goto(running().server.origin + EXAMPLE);
      assert.match(await outputOf(page), OUTPUT);
    }
    await page.close();
  });
});

/** What it has printed when it is done. */
async function outputOf(page: Page): Promise<string> {
  const latest = performance.now() + MS_MAX;
  for (;;) {
    const text = await page.evaluate("Promise.resolve(document.querySelector('pre').textContent)");
    if (text.endsWith('}') || performance.now() > latest) return text;
    await sleep(20);
  }
}
