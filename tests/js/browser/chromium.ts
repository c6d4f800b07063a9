/** Chromium, over the DevTools protocol. */
import { chromium as playwright } from 'playwright-core';
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

const CONNECT_MS_MAX = 120_000;

export const chromium: BrowserKind = {
  name: 'Chromium',
  async start(profile: string): Promise<Browser> {
    const program = new Leashed('/usr/bin/chromium', [...ARGS, `--user-data-dir=${profile}`]);
    const [, endpoint = ''] = await program.printed(/DevTools listening on (ws:\S+)/);
    const browser = await playwright.connectOverCDP(endpoint, {
      noDefaults: true,
      timeout: CONNECT_MS_MAX,
    });
    const [context] = browser.contexts();
    if (context === undefined) throw new Error('Chromium has no context');
    return {
      async newPage(): Promise<Page> {
        const page = await context.newPage();
        const devtools = await context.newCDPSession(page);
        return {
          goto: async (url) => {
            await page.goto(url);
          },
          evaluate: (expression) => page.evaluate<string>(expression),
          devtools: async (command, parameters) => {
            // The protocol's table of commands is not worth a type here.
            await devtools.send(command as 'Page.enable', parameters);
          },
          close: () => page.close(),
        };
      },
      async stop() {
        await browser.close().catch(() => undefined);
        await program.stop();
      },
      async kill() {
        await program.kill();
        await browser.close().catch(() => undefined);
      },
    };
  },
};
