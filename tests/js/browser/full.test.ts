/**
 * No room: Firefox with a small quota, Chromium on a small disk. What is refused is a typed error,
 * what was acknowledged is there, and with room the store goes on.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type BrowserKind, call } from './browser.js';
import { chromium } from './chromium.js';
import { firefoxWith } from './firefox.js';
import { startServer } from './server.js';
import { chosenKinds, makeProfile, newPageOf, removeProfile } from './support.js';

const VALUE_BYTES = 200_000;
const BALLAST = 'fencepost:ballast';
const QUOTA_KIB = 40 << 10;
const DISK = 'size=160m';
const ROOM_BYTES = 6 << 20;

/** How one browser runs out of room, and gets some again. */
interface Shortage {
  kind: BrowserKind;
  /** Prepares the profile, or says why it cannot be done here. */
  prepare(profile: string): string | null;
  fill(profile: string): void;
  relieve(profile: string): void;
  /**
   * Whether a write is told at once that there is no room. Then everything can be read meanwhile,
   * and the page makes room by itself.
   */
  isTold: boolean;
  end(profile: string): void;
}

interface Refused {
  acknowledged: number;
  code: string;
  kind: string;
  message: string;
}

const nothing = () => undefined;

const smallQuota: Shortage = {
  kind: firefoxWith({ 'dom.quotaManager.temporaryStorage.fixedLimit': QUOTA_KIB }),
  prepare: () => null,
  fill: nothing,
  relieve: nothing,
  isTold: true,
  end: nothing,
};

const smallDisk: Shortage = {
  kind: chromium,
  prepare: (profile) => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', profile], { stdio: 'ignore' });
      return null;
    } catch {
      return 'to mount a small disk one has to be root';
    }
  },
  fill: (profile) => {
    const { bavail, bsize } = statfsSync(profile);
    writeFileSync(join(profile, 'ballast'), Buffer.alloc(bavail * bsize - ROOM_BYTES));
  },
  relieve: (profile) => rmSync(join(profile, 'ballast')),
  // Chromium gives up the whole database, perhaps in the middle of a commit.
  isTold: false,
  end: (profile) => {
    execFileSync('umount', ['--lazy', profile]);
  },
};

for (const shortage of [smallDisk, smallQuota]) {
  for (const kind of chosenKinds([shortage.kind])) {
    describe(`${kind.name} without room`, () => {
      test('a refused commit is typed, none is lost, and the store goes on', async (context) => {
        const profile = makeProfile();
        const obstacle = shortage.prepare(profile);
        assert.equal(obstacle, null, 'the small disk could not be prepared');
        try {
          await fillAndRelieve(context, shortage, profile);
        } finally {
          shortage.end(profile);
          removeProfile(profile);
        }
      });
    });
  }
}

async function fillAndRelieve(
  context: TestContext,
  { kind, fill, relieve, isTold }: Shortage,
  profile: string,
): Promise<void> {
  const server = await startServer();
  const browser = await kind.start(profile);
  try {
    const page = await newPageOf(browser, server);
    if (isTold) await call(page, 'fillDatabase', BALLAST, 4 << 20);
    await call(page, 'openStore', 'full', { timeout: 15_000 });
    const before = await call<number>(page, 'takeToken');
    fill(profile);
    const {
      acknowledged,
      code,
      kind: asks,
      message,
    } = await call<Refused>(page, 'putUntilRefused', VALUE_BYTES);
    assert.equal(asks, 'unavailable', message);
    if (isTold) assert.equal(code, 'JOURNAL_FULL', message);
    assert.ok(acknowledged > 0, 'there was some room');
    if (isTold) {
      assert.equal(await call(page, 'countValues', acknowledged), acknowledged);
      await call(page, 'deleteDatabase', BALLAST);
    }
    relieve(profile);
    assert.equal(await call(page, 'tryToPut', 'after', 1), 'ok');
    assert.equal(await call(page, 'countValues', acknowledged), acknowledged);
    const after = await call<number>(page, 'takeToken');
    assert.ok(after > before, `tokens rise: ${before}, ${after}`);
    assert.deepEqual(await call(page, 'complaintsOfPage'), []);
    context.diagnostic(`refused with ${code} after ${acknowledged} values of ${VALUE_BYTES} bytes`);
  } finally {
    await browser.stop();
    await server.close();
  }
}
