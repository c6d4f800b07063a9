/** How a browser runs out of room: by a small quota, or on a small disk. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserKind, Page } from './browser.js';
import { chromium } from './chromium.js';
import { firefoxWith } from './firefox.js';
import { makeProfile, removeProfile } from './support.js';

const QUOTA_KIB = 40 << 10;
const DISK = 'size=160m';
const ROOM_BYTES = 6 << 20;

/** How one browser runs out of room, and gets some again. */
export interface Shortage {
  kind: BrowserKind;
  prepare(profile: string): void;
  fill(profile: string, page: Page, origin: string): Promise<void>;
  relieve(profile: string): void;
  /**
   * Whether a write is told at once that there is no room. Then everything can be read meanwhile,
   * and the page makes room by itself.
   */
  isTold: boolean;
  end(profile: string): void;
}

const nothing = () => undefined;
const nothingYet = async () => undefined;

export const firefoxQuota: Shortage = {
  kind: firefoxWith({ 'dom.quotaManager.temporaryStorage.fixedLimit': QUOTA_KIB }),
  prepare: nothing,
  fill: nothingYet,
  relieve: nothing,
  isTold: true,
  end: nothing,
};

export const chromiumQuota: Shortage = {
  kind: chromium,
  prepare: nothing,
  fill: async (_, page, origin) => {
    const limit = { origin, quotaSize: ROOM_BYTES };
    await page.devtools?.('Storage.overrideQuotaForOrigin', limit);
  },
  relieve: nothing,
  isTold: true,
  end: nothing,
};

export const chromiumDisk: Shortage = {
  kind: chromium,
  prepare: (profile) => {
    const mount = ['-t', 'tmpfs', '-o', DISK, 'tmpfs', profile];
    // To mount a small disk one has to be root.
    assert.doesNotThrow(() => execFileSync('mount', mount, { stdio: 'ignore' }));
  },
  fill: async (profile) => {
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

/** Runs `body` with a profile of its own that will run out of room. */
export async function withShortage(
  shortage: Shortage,
  body: (profile: string) => Promise<void>,
): Promise<void> {
  const profile = makeProfile();
  shortage.prepare(profile);
  try {
    await body(profile);
  } finally {
    shortage.end(profile);
    removeProfile(profile);
  }
}
