/**
 * What Chromium's DevTools can do to a page: freeze it, clear its storage, show it in private.
 * `FENCEPOST_FREEZE_SECONDS` says how long a tab stands still; everything else runs beside it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Page } from './browser.js';
import { chromium } from './chromium.js';
import { startServer } from './server.js';
import { closeQuietly, inBrowsers, newPageOf, tabsWith } from './support.js';

const FREEZE_MS = 1000 * Number(process.env.FENCEPOST_FREEZE_SECONDS ?? 60);
const LEASE_MS = 500;
const LANES = 8;
const SHORT_FREEZES = 5;
const SHORT_FREEZE_MS = 1_000;
const PAUSE_MS = 100;
/** A machine under load is slow, but a tab that waits for a frozen one would wait for ever. */
const PUT_MS_MAX = 5_000;

inBrowsers(
  [chromium],
  'what DevTools can do',
  (running) => {
    test('a frozen tab loses its claim, others go on meanwhile', async (context) => {
      const [frozen, other] = await tabsWith(running().newPage, 'frozen');
      await call(frozen, 'enqueue', 'work');
      const [mine] = await call<{ id: number }[]>(frozen, 'claim', 'frozen', { lease: LEASE_MS });
      await setState(frozen, 'frozen');
      const puts = await putFor(FREEZE_MS, other);
      const [theirs] = await call<{ id: number; attempt: number }[]>(other, 'claim', 'other');
      assert.equal(theirs?.id, mine?.id);
      assert.equal(theirs?.attempt, 2);
      await setState(frozen, 'active');
      const stoodStill = await call<number>(frozen, 'longestGap');
      assert.ok(stoodStill > FREEZE_MS / 2, `it was frozen, for ${stoodStill} ms`);
      assert.equal(await call(frozen, 'complete', mine?.id), 'fenced');
      assert.equal(await call(other, 'complete', theirs?.id), true);
      context.diagnostic(`frozen for ${Math.round(stoodStill)} ms; ${told(puts)}`);
      await closeQuietly(frozen, other);
    });

    test('a tab frozen in the middle of its writes holds nobody up', async (context) => {
      const [frozen, other] = await tabsWith(running().newPage, 'held');
      const puts: Puts = { count: 0, slowest_ms: 0 };
      for (let time = 0; time < SHORT_FREEZES; time += 1) {
        await call(frozen, 'startWriting', 'a', LANES);
        await sleep(Math.random() * 200);
        await setState(frozen, 'frozen');
        const more = await putFor(SHORT_FREEZE_MS, other);
        puts.count += more.count;
        puts.slowest_ms = Math.max(puts.slowest_ms, more.slowest_ms);
        await setState(frozen, 'active');
        await call(frozen, 'stopWriting');
        assert.equal(await call(frozen, 'tryToPut', 'b', time), 'ok');
      }
      assert.ok((await call<number>(frozen, 'countWritten')) > 0);
      context.diagnostic(told(puts));
      await closeQuietly(frozen, other);
    });

    test('a commit that fails while its tab is frozen is told afterwards', async (context) => {
      const server = await startServer();
      context.after(() => server.close());
      const newPage = () => newPageOf(running().browser, server);
      const [frozen, other] = await tabsWith(newPage, 'told');
      await call(frozen, 'startWriting', 'a', LANES);
      await call(frozen, 'beginPut', 'b', 1);
      await setState(frozen, 'frozen');
      await clearStorage(other, server.origin);
      assert.equal(await call(other, 'tryToPut', 'c', 1), 'LOG_REPLACED');
      await setState(frozen, 'active');
      await call(frozen, 'stopWriting');
      const told = await call<string>(frozen, 'endOfPut');
      // What the tab asks for while its storage goes away is answered by nobody: it waits in vain.
      assert.ok(['ok', 'LOG_REPLACED', 'JOURNAL_UNAVAILABLE'].includes(told), told);
      assert.equal(await call(frozen, 'tryToPut', 'd', 1), 'LOG_REPLACED');
      await closeQuietly(frozen, other);
    });

    test('storage cleared under two tabs: both are told, new tokens rise', async (context) => {
      // What is cleared is the storage of an origin: this one has no other test.
      const server = await startServer();
      context.after(() => server.close());
      const newPage = () => newPageOf(running().browser, server);
      const [left, right] = await tabsWith(newPage, 'cleared');
      const before = await call<number>(right, 'takeToken');
      await clearStorage(left, server.origin);
      assert.equal(await call(left, 'tryToPut', 'a', 2), 'LOG_REPLACED');
      assert.equal(await call(right, 'tryToPut', 'a', 2), 'LOG_REPLACED');
      await call(right, 'openStore', 'cleared');
      const after = await call<number>(right, 'takeToken');
      assert.ok(after > before, `tokens rise: ${before}, ${after}`);
      await closeQuietly(left, right);
    });

    test('storage cleared under a working tab: whoever waits in it is told', async (context) => {
      const server = await startServer();
      context.after(() => server.close());
      const page = await newPageOf(running().browser, server);
      await call(page, 'openStore', 'waiting');
      await call(page, 'waitForEverything');
      await clearStorage(page, server.origin);
      assert.deepEqual(await call(page, 'whatWasTold', 5), {
        worker: 'LOG_REPLACED',
        result: 'LOG_REPLACED',
        acquire: 'LOG_REPLACED',
        hold: 'LEASE_LOST',
        events: 'LOG_REPLACED',
      });
      await call(page, 'closeStore');
      await call(page, 'openStore', 'waiting');
      assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
      await closeQuietly(page);
    });

    test('a private window has a store of its own', async () => {
      const { browser, server } = running();
      const page = await running().newPage();
      const logId = await call<string>(page, 'openStore', 'private');
      assert.equal(await call(page, 'tryToPut', 'a', 1), 'ok');
      const hidden = await browser.newPrivatePage?.();
      assert.ok(hidden);
      await hidden.goto(`${server.origin}/`);
      assert.notEqual(await call<string>(hidden, 'openStore', 'private'), logId);
      assert.equal(await call(hidden, 'read', 'a'), null);
      assert.equal(await call(hidden, 'tryToPut', 'a', 2), 'ok');
      assert.equal(await call(page, 'read', 'a'), 1);
      await closeQuietly(page, hidden);
    });
  },
  { concurrency: 8 },
);

interface Puts {
  count: number;
  slowest_ms: number;
}

/** Puts one value after the other; none may wait for a frozen tab. */
async function putFor(duration_ms: number, page: Page): Promise<Puts> {
  const end = performance.now() + duration_ms;
  const puts: Puts = { count: 0, slowest_ms: 0 };
  do {
    const took_ms = await call<number>(page, 'timeOfPut', 'meanwhile');
    assert.ok(took_ms < PUT_MS_MAX, `a put took ${took_ms} ms`);
    puts.count += 1;
    puts.slowest_ms = Math.max(puts.slowest_ms, took_ms);
    await sleep(PAUSE_MS);
  } while (performance.now() < end);
  return puts;
}

function told({ count, slowest_ms }: Puts): string {
  return `${count} puts in the other tab meanwhile, the slowest took ${slowest_ms.toFixed(0)} ms`;
}

async function setState(page: Page, state: 'frozen' | 'active'): Promise<void> {
  await page.devtools?.('Page.setWebLifecycleState', { state });
}

async function clearStorage(page: Page, origin: string): Promise<void> {
  await page.devtools?.('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
}
