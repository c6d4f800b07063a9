/**
 * A store that is filled until nothing fits, at entries and at snapshots, with small values and
 * with entries of more than 1 MB, which Firefox keeps in files of their own. A commit is several
 * requests; whichever of them is refused, nothing of it counts.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Browser, call, type Page } from './browser.js';
import { type Server, startServer } from './server.js';
import {
  chromiumDisk,
  chromiumQuota,
  firefoxQuota,
  type Shortage,
  withShortage,
} from './shortage.js';
import { chosenKinds, closeQuietly, newPageOf } from './support.js';

/** Other requests meet the end of the room; a browser without an answer is asked once. */
const REFUSALS = 12;
const TIMEOUT_MS = 5_000;
/** Tasks of a batch, and the bytes of each: an entry of the batch, snapshots of all. */
const LOADS = [
  { what: 'values of 1 kB', bytes: 1_000, size: 70 },
  { what: 'values of 1 kB, many a commit', bytes: 1_000, size: 900 },
  { what: 'entries of 1.5 MB', bytes: 300_000, size: 5 },
];

const SHORTAGES = [
  { what: 'full quota', shortage: firefoxQuota, loads: LOADS },
  { what: 'full quota', shortage: chromiumQuota, loads: LOADS.slice(2) },
  { what: 'full disk', shortage: chromiumDisk, loads: LOADS.slice(1, 2) },
];

for (const { what, shortage, loads } of SHORTAGES) {
  for (const kind of chosenKinds([shortage.kind])) {
    describe(`${kind.name} with a ${what}`, () => {
      for (const load of loads) {
        test(`${load.what}: all that was acknowledged is there, and nothing else`, (context) =>
          withShortage(shortage, async (profile) => {
            const server = await startServer();
            const browser = await kind.start(profile);
            try {
              await fillAndReload(context, { shortage, profile, load, browser, server });
            } finally {
              await browser.stop();
              await server.close();
            }
          }));
      }
    });
  }
}

interface Filling {
  shortage: Shortage;
  profile: string;
  load: (typeof LOADS)[number];
  browser: Browser;
  server: Server;
}

async function fillAndReload(context: TestContext, filling: Filling): Promise<void> {
  const { shortage, profile, load, browser, server } = filling;
  const page = await newPageOf(browser, server);
  await call(page, 'openStore', 'refused', { timeout: TIMEOUT_MS });
  await shortage.fill(profile, page, server.origin);
  const refusals = shortage.isTold ? REFUSALS : 1;
  const outcomes = await call<string[]>(page, 'enqueueUntilRefused', { ...load, refusals });
  const codes = [...new Set(outcomes)].join(', ');
  context.diagnostic(`${outcomes.length - refusals} commits of ${load.size}: ${codes}`);
  assert.ok(outcomes.includes('ok'), 'there was some room');
  shortage.relieve(profile);
  await page.goto(`${server.origin}/`);
  await call(page, 'openStore', 'refused', { timeout: TIMEOUT_MS });
  await checkBatches(page, outcomes, load.size);
  await closeQuietly(page);
}

async function checkBatches(page: Page, outcomes: string[], size: number): Promise<void> {
  const { found, ok } = await call<{ found: Record<string, number>; ok: boolean }>(
    page,
    'batchesThere',
  );
  assert.ok(ok, 'every index is well');
  for (const [batch, outcome] of outcomes.entries()) {
    const count = found[batch] ?? 0;
    const told = `batch ${batch} was told ${outcome}, and ${count} tasks of it are there`;
    if (outcome === 'ok') assert.equal(count, size, told);
    else if (outcome === 'OUTCOME_UNKNOWN') assert.ok(count === 0 || count === size, told);
    else assert.equal(count, 0, told);
  }
}
