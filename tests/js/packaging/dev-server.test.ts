/**
 * The installed package on Vite's dev server, which bundles packages one by one beforehand and
 * serves them from a folder of its own: a file that lies beside a module may stay behind.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from '../browser/chromium.js';
import { inBrowsers } from '../browser/support.js';
import { CYCLED } from './cycle.js';
import { project, TOOLS } from './project.js';
import { mainOf, PAGE, reportsOf, startSite } from './site.js';

const KINDS = ['fencepost', 'inline', 'engine', 'slim'];
const ALL_WELL = Object.fromEntries(KINDS.map((kind) => [kind, CYCLED]));
/** What the README says for `fencepost/slim`. */
const EXCLUDED = { exclude: ['fencepost'] };

interface DevServer {
  listen(): Promise<unknown>;
  close(): Promise<void>;
  readonly resolvedUrls: { readonly local: readonly string[] };
}

inBrowsers([chromium], 'the package on a dev server', (running) => {
  /** What each entry reports, and whether the package was bundled beforehand. */
  async function served(vite: string, optimizeDeps: object) {
    const { path } = project({ 'index.html': PAGE, 'main.js': mainOf(true) });
    const { reports, ...receiver } = await startSite(path);
    const { createServer } = await import(join(TOOLS, vite, 'dist/node/index.js'));
    const server: DevServer = await createServer({
      root: path,
      configFile: false,
      logLevel: 'error',
      optimizeDeps,
      // Version 7 takes 0 for its usual port, and the next one where that is taken.
      server: { host: '127.0.0.1', port: 0, proxy: { '/report': receiver.origin } },
    });
    await server.listen();
    const origin = server.resolvedUrls.local[0]?.replace(/\/$/, '') ?? '';
    // On the usual port a later test has the origin of an earlier one.
    const page = await running().browser.newPrivatePage?.();
    assert.ok(page !== undefined, 'the browser has private pages');
    const results = await reportsOf(page, { origin, reports }, KINDS);
    const isBundled = existsSync(join(path, 'node_modules/.vite/deps/fencepost.js'));
    await page.close();
    await server.close();
    await receiver.close();
    return { results, isBundled };
  }

  test('Vite 8: every entry works as it is', async () => {
    const { results, isBundled } = await served('vite', {});
    assert.deepEqual(results, ALL_WELL);
    assert.ok(isBundled, 'it was bundled beforehand');
  });

  test('Vite 7: slim alone misses its file, and says so', async () => {
    const { results, isBundled } = await served('vite-7', {});
    const { slim, ...others } = results;
    assert.deepEqual({ ...others, slim: CYCLED }, ALL_WELL);
    assert.match(slim ?? '', /if a bundler left the file behind: .*fencepost\/inline needs none/);
    assert.ok(isBundled, 'it was bundled beforehand');
  });

  for (const [name, vite] of [
    ['Vite 8', 'vite'],
    ['Vite 7', 'vite-7'],
  ] as const) {
    test(`${name}: every entry works when the package is left out of the bundling`, async () => {
      const { results, isBundled } = await served(vite, EXCLUDED);
      assert.deepEqual(results, ALL_WELL);
      assert.ok(!isBundled, 'it was served as it is');
    });
  }
});
