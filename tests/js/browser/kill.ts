/**
 * The browser is killed while two pages write, and started again on the same profile: everything
 * that was acknowledged is there, and what was not is there as a whole or not at all.
 *
 * Chromium goes on behind a record that the kill has cut (`leveldb-log.ts`) and may lose what it
 * writes there. Such a profile is checked once more, and the next round begins with a new one; in
 * any other round nothing may be missing.
 * `FENCEPOST_KILL_ROUNDS=300` kills more often.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserKind, call, type Page } from './browser.js';
import { hasTornLog } from './leveldb-log.js';
import { type Server, startServer } from './server.js';
import { chosenKinds, makeProfile, newPageOf, removeProfile } from './support.js';

/** How often, when nobody says otherwise. */
export const ROUNDS = Number(process.env.FENCEPOST_KILL_ROUNDS ?? 30);
const WRITERS = 2;
const REPORTS_MIN = 3;
const KILL_AFTER_MS_MAX = 400;
const ROUND_MS_MAX = 60_000;

interface Report {
  round: number;
  count: number;
  token: number;
}

interface Stored {
  left: number;
  right: number;
  tasks: number;
  ok: boolean;
}

/** Registers the test for one browser. */
export function killWhileWriting(kind: BrowserKind, rounds: number): void {
  if (chosenKinds([kind]).length === 0) return;
  describe(`${kind.name}, killed while it writes`, () => {
    test('every acknowledged commit is there, every other one whole or absent', {
      timeout: ROUND_MS_MAX * (rounds + 1),
    }, async (context) => {
      const server = await startServer();
      try {
        await killAndCheck(context, kind, { server, rounds });
      } finally {
        await server.close();
      }
    });
  });
}

async function killAndCheck(
  context: TestContext,
  kind: BrowserKind,
  { server, rounds }: { server: Server; rounds: number },
): Promise<void> {
  const reports = server.reports as Report[];
  let profile = makeProfile();
  let firstReport = 0;
  let unreported = 0;
  let torn = 0;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const isTorn = round > 0 && hasTornLog(profile);
      const browser = await kind.start(profile);
      try {
        const pages = await openPages(browser, server);
        const stored = await call<Stored>(pages[0], 'whatIsThere');
        unreported += requireEverything(stored, reports.slice(firstReport), round);
        requireRisingTokens(reports, round);
        if (round === rounds) break;
        if (!isTorn) await writeForAWhile(pages, reports, round);
      } finally {
        await browser.kill();
      }
      if (!isTorn) continue;
      torn += 1;
      removeProfile(profile);
      profile = makeProfile();
      firstReport = reports.length;
    }
  } finally {
    removeProfile(profile);
  }
  context.diagnostic(
    `${rounds} kills, ${reports.length} commits acknowledged and found, ` +
      `${unreported} more that were stored whole, ${torn} profiles replaced after a torn record`,
  );
}

async function openPages(browser: Browser, server: Server): Promise<[Page, ...Page[]]> {
  const open = async () => {
    const page = await newPageOf(browser, server);
    await call(page, 'openStore', 'killed');
    return page;
  };
  const others = Array.from({ length: WRITERS - 1 }, open);
  return [await open(), ...(await Promise.all(others))];
}

async function writeForAWhile(
  pages: readonly Page[],
  reports: readonly Report[],
  round: number,
): Promise<void> {
  const before = reports.length;
  // These never answer: the browser dies first.
  for (const page of pages) call(page, 'writeForEver', round).catch(() => undefined);
  while (reports.length < before + REPORTS_MIN) await sleep(5);
  await sleep(Math.random() * KILL_AFTER_MS_MAX);
}

/** Answers how many commits are stored beyond those that were reported before the last kill. */
function requireEverything(stored: Stored, reports: readonly Report[], round: number): number {
  const acknowledged = reports.reduce((max, { count }) => Math.max(max, count), 0);
  const { left, right, tasks, ok } = stored;
  const what = `round ${round}: ${JSON.stringify(stored)}, acknowledged ${acknowledged}`;
  assert.ok(left >= acknowledged, `an acknowledged commit is lost; ${what}`);
  assert.ok(left === right && left === tasks, `a commit is there in part; ${what}`);
  assert.ok(ok, `an index is wrong; ${what}`);
  return left - acknowledged;
}

/** Also from one profile to the next. */
function requireRisingTokens(reports: readonly Report[], round: number): void {
  let highest = 0;
  let highestBefore = 0;
  let current = -1;
  for (const report of reports) {
    if (report.round !== current) {
      current = report.round;
      highestBefore = highest;
    }
    assert.ok(report.token > highestBefore, `tokens did not rise; round ${round}`);
    highest = Math.max(highest, report.token);
  }
}
