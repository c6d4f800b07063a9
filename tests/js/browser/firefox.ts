/** Firefox, over WebDriver BiDi. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'puppeteer-core';
import { goBack } from './back.js';
import type { Browser, BrowserKind, Page } from './browser.js';
import { Leashed } from './leash.js';

/** What the remote agent does not set by itself. */
const PREFERENCES = {
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.startup.max_resumed_crashes': -1,
  'browser.sessionstore.resume_from_crash': false,
  // Tabs that are not in front do real work in these tests.
  'dom.min_background_timeout_value': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
};

/** Firefox with these preferences on top. */
export function firefoxWith(preferences: Record<string, unknown>): BrowserKind {
  return { name: 'Firefox', start: (profile) => start(profile, preferences) };
}

export const firefox = firefoxWith({});

async function start(profile: string, preferences: Record<string, unknown>): Promise<Browser> {
  const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile];
  const program = new Leashed('/usr/bin/firefox-esr', args, { MOZ_CRASHREPORTER_DISABLE: '1' });
  const [, endpoint = ''] = await program.printed(/WebDriver BiDi listening on (ws:\S+)/);
  const browser = await connect({
    browserWSEndpoint: `${endpoint}/session`,
    protocol: 'webDriverBiDi',
    protocolTimeout: 600_000,
    defaultViewport: null,
  });
  return {
    async newPage(): Promise<Page> {
      const page = await browser.newPage();
      const evaluate = async (expression: string) => (await page.evaluate(expression)) as string;
      return {
        goto: async (url) => {
          await page.goto(url);
        },
        back: () => goBack(evaluate),
        evaluate,
        close: () => page.close(),
      };
    },
    async stop() {
      await browser.disconnect().catch(() => undefined);
      await program.stop();
    },
    async kill() {
      await program.kill();
      await browser.disconnect().catch(() => undefined);
    },
  };
}
