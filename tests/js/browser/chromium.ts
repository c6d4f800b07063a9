/** Chromium, over the DevTools protocol. */
import { type BrowserContext, chromium as playwright } from 'playwright-core';
import { goBack } from './back.js';
import type { Browser, BrowserKind, Page } from './browser.js';
import { Leashed } from './leash.js';

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-breakpad',
  // Tabs that are not in front do real work in these tests.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--remote-debugging-port=0',
];

/** Rarely a start after a kill comes to nothing: the endpoint is there and never answers. */
const CONNECT_MS_MAX = 45_000;
const STARTS_MAX = 3;

/** Chromium with these arguments on top. */
export function chromiumWith(more: readonly string[], name = 'Chromium'): BrowserKind {
  return { name, start: (profile) => start([...ARGS, ...more, `--user-data-dir=${profile}`]) };
}

export const chromium = chromiumWith([]);

/** Chromium with the backend of IndexedDB that is to replace LevelDB. */
export const chromiumOnSqlite = chromiumWith(
  ['--enable-features=IdbSqliteBackingStore'],
  'Chromium on SQLite',
);

async function start(args: readonly string[]): Promise<Browser> {
  const { program, browser } = await connected(args);
  const [context] = browser.contexts();
  if (context === undefined) throw new Error('Chromium has no context');
  return {
    newPage: () => newPage(context),
    newPrivatePage: async () => newPage(await browser.newContext()),
    async stop() {
      await browser.close().catch(() => undefined);
      await program.stop();
    },
    async kill() {
      await program.kill();
      await browser.close().catch(() => undefined);
    },
  };
}

async function connected(args: readonly string[], starts = 1) {
  const program = new Leashed('/usr/bin/chromium', args);
  try {
    const [, endpoint = ''] = await program.printed(/DevTools listening on (ws:\S+)/);
    const settings = { noDefaults: true, timeout: CONNECT_MS_MAX };
    return { program, browser: await playwright.connectOverCDP(endpoint, settings) };
  } catch (error) {
    await program.kill();
    if (starts === STARTS_MAX) throw error;
    return connected(args, starts + 1);
  }
}

async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const evaluate = (expression: string) => page.evaluate<string>(expression);
  return {
    goto: async (url) => {
      await page.goto(url);
    },
    back: () => goBack(evaluate),
    evaluate,
    devtools: async (command, parameters) => {
      // The protocol's table of commands is not worth a type here.
      await devtools.send(command as 'Page.enable', parameters);
    },
    close: () => page.close(),
  };
}
