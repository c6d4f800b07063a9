/**
 * Chromium after a kill that has cut a write of its database: `leveldb-log.ts` says what happens
 * then. The cut is made by hand here, so that it happens every time.
 *
 * What the browser loses, nobody can bring back. What holds all the same: the store opens, it is
 * whole, it is a prefix of what was committed, and its tokens are larger than all before.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type BrowserKind, call } from './browser.js';
import { chromium } from './chromium.js';
import { logsOf, tornRecord } from './leveldb-log.js';
import { type Server, startServer } from './server.js';
import { chosenKinds, makeProfile, newPageOf, removeProfile } from './support.js';

/** A record with less to come than the next session writes, and one with more. */
const CUTS = [
  { what: 'shorter than what follows', announced: 2_000 },
  { what: 'longer than what follows', announced: 30_000 },
];
const WRITTEN = 500;
const PUTS = 3;

interface Session {
  logId: string;
  /** How many values were there, of those that all sessions put. */
  found: number;
  /** What the browser said when the database was made, or `null` when there was one. */
  dataLoss: string | null;
  ok: boolean;
  token: number;
}

for (const kind of chosenKinds([chromium])) {
  describe(`${kind.name} after a kill in the middle of a write`, () => {
    for (const { what, announced } of CUTS) {
      test(`a store behind a cut record ${what} is whole, and tokens rise`, async (context) => {
        const profile = makeProfile();
        const server = await startServer();
        try {
          const first = await session(kind, { profile, server, at: 0 });
          cutLastWrite(profile, announced);
          const second = await session(kind, { profile, server, at: PUTS });
          assert.equal(second.logId, first.logId);
          assert.equal(second.found, PUTS, 'what was acknowledged before the cut is there');
          const third = await session(kind, { profile, server, at: 2 * PUTS });

          for (const { ok } of [first, second, third]) assert.ok(ok, 'every index is well');
          assert.ok(first.token < second.token && second.token < third.token, 'tokens rise');
          if (third.logId === second.logId) {
            assert.ok(third.found >= PUTS, 'at most what came after the cut is gone');
          } else {
            assert.equal(third.dataLoss, 'total', 'a new log only where the browser says so');
            assert.equal(third.found, 0);
          }
          const lost = 2 * PUTS - third.found;
          context.diagnostic(`${lost} acknowledged commits lost; data loss: ${third.dataLoss}`);
        } finally {
          await server.close();
          removeProfile(profile);
        }
      });
    }
  });
}

/** Starts a browser, looks at the store, puts some values, and kills the browser. */
async function session(
  kind: BrowserKind,
  { profile, server, at }: { profile: string; server: Server; at: number },
): Promise<Session> {
  const browser = await kind.start(profile);
  try {
    const page = await newPageOf(browser, server);
    const dataLoss = await call<string | null>(page, 'openAndWatchLoss', 'torn');
    const logId = await call<string>(page, 'logId');
    const found = await call<number>(page, 'countValues', at);
    const { ok } = await call<{ ok: boolean }>(page, 'fingerprint');
    const token = await call<number>(page, 'takeToken');
    for (let number = at; number < at + PUTS; number += 1) {
      assert.equal(await call(page, 'tryToPut', `${number}`, number), 'ok');
    }
    return { logId, found, dataLoss, ok, token };
  } finally {
    await browser.kill();
  }
}

function cutLastWrite(profile: string, announced: number): void {
  const log = logsOf(profile).find((path) => path.endsWith('.log'));
  assert.ok(log);
  appendFileSync(log, tornRecord(announced, WRITTEN));
}
