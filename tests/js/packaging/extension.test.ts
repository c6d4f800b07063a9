/** The installed package, bundled into the background worker of an extension of Chromium. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { chromiumWith } from '../browser/chromium.js';
import { chosenKinds, makeProfile, removeProfile } from '../browser/support.js';
import { CYCLED } from './cycle.js';
import { project } from './project.js';
import { BEATS, REPORT, reportsOf, startSite } from './site.js';

const MANIFEST = {
  manifest_version: 3,
  name: 'packaged',
  version: '1',
  background: { service_worker: 'built/background.js', type: 'module' },
  host_permissions: ['http://localhost/*', 'http://127.0.0.1/*'],
  content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
};

test("an extension's background worker opens, works and fires a cron", async () => {
  const made = project({
    'index.html': '<!doctype html>',
    'extension/manifest.json': JSON.stringify(MANIFEST),
  });
  const server = await startSite(made.path);
  made.write({
    'background.js': `
      import * as fencepost from 'fencepost';
      const origin = ${JSON.stringify(server.origin)};
      ${REPORT}${BEATS}
      report('extension', fencepost);
      beats('extension beats', fencepost);`,
  });
  await build({
    absWorkingDir: made.path,
    entryPoints: ['background.js'],
    outdir: 'extension/built',
    bundle: true,
    // What is imported later would be a file of its own.
    splitting: true,
    format: 'esm',
    logLevel: 'error',
  });
  const folder = join(made.path, 'extension');
  const kind = chromiumWith([
    `--load-extension=${folder}`,
    `--disable-extensions-except=${folder}`,
    '--disable-features=DisableLoadExtensionCommandLineSwitch',
  ]);
  for (const { start } of chosenKinds([kind])) {
    const profile = makeProfile();
    const browser = await start(profile);
    const page = await browser.newPage();
    const results = await reportsOf(page, server, ['extension', 'extension beats']);
    await browser.stop();
    removeProfile(profile);
    assert.deepEqual(results, { extension: CYCLED, 'extension beats': 'beat' });
  }
  await server.close();
});
