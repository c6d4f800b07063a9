/** Runs tests in every browser, one browser at a time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { type Browser, type BrowserKind, call, type Page } from './browser.js';
import { chromium } from './chromium.js';
import { firefox } from './firefox.js';
import { type Server, startServer } from './server.js';
import { webkit } from './webkit.js';

/** What a test has at hand while its browser runs. */
export interface Running {
  readonly kind: BrowserKind;
  readonly server: Server;
  readonly browser: Browser;
  /** A new tab with an empty page of the server's origin. */
  newPage(): Promise<Page>;
}

const ALL = [chromium, firefox, webkit];

/** `FENCEPOST_BROWSERS=Firefox,WebKitGTK` runs some of them only. */
export function chosenKinds(kinds: readonly BrowserKind[]): BrowserKind[] {
  const names = process.env.FENCEPOST_BROWSERS?.split(',');
  return kinds.filter(({ name }) => names?.includes(name) ?? true);
}

/** Registers the tests of `body` once for each browser. */
export function inEveryBrowser(what: string, body: (running: () => Running) => void): void {
  inBrowsers(ALL, what, body);
}

/** The same for some browsers; `concurrency`: how many of the tests run side by side. */
export function inBrowsers(
  kinds: readonly BrowserKind[],
  what: string,
  body: (running: () => Running) => void,
  { concurrency = 1 }: { concurrency?: number } = {},
): void {
  for (const kind of chosenKinds(kinds)) {
    describe(`${kind.name}: ${what}`, { concurrency }, () => {
      let running: Running | null = null;
      let profile = '';
      before(async () => {
        profile = makeProfile();
        const server = await startServer();
        const browser = await kind.start(profile);
        const newPage = () => newPageOf(browser, server);
        running = { kind, server, browser, newPage };
      });
      after(async () => {
        await running?.browser.stop();
        await running?.server.close();
        removeProfile(profile);
      });
      body(() => {
        if (running === null) throw new Error(`${kind.name} has not started`);
        return running;
      });
    });
  }
}

export async function newPageOf(browser: Browser, server: Server): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${server.origin}/`);
  return page;
}

export function makeProfile(): string {
  return mkdtempSync(join(tmpdir(), 'fencepost-browser-'));
}

export function removeProfile(profile: string): void {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Tabs with a store of one name each. */
export async function tabsWith(
  newPage: () => Promise<Page>,
  store: string,
): Promise<[left: Page, right: Page]> {
  const pages: [Page, Page] = [await newPage(), await newPage()];
  for (const page of pages) await call(page, 'openStore', store);
  return pages;
}

/** Nothing may have been left unhandled. */
export async function closeQuietly(...pages: Page[]): Promise<void> {
  for (const page of pages) {
    assert.deepEqual(await call(page, 'complaintsOfPage'), []);
    await page.close();
  }
}
