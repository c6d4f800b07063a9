/**
 * No room: Firefox with a small quota, Chromium on a small disk. What is refused is a typed error,
 * what was acknowledged is there, and with room the store goes on.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { call } from './browser.js';
import { startServer } from './server.js';
import { chromiumDisk, firefoxQuota, type Shortage, withShortage } from './shortage.js';
import { chosenKinds, newPageOf } from './support.js';

const VALUE_BYTES = 200_000;
const BALLAST = 'fencepost:ballast';

interface Refused {
  acknowledged: number;
  code: string;
  kind: string;
  message: string;
}

for (const shortage of [chromiumDisk, firefoxQuota]) {
  for (const kind of chosenKinds([shortage.kind])) {
    describe(`${kind.name} without room`, () => {
      test('a refused commit is typed, none is lost, and the store goes on', (context) =>
        withShortage(shortage, (profile) => fillAndRelieve(context, shortage, profile)));
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
    await fill(profile, page, server.origin);
    const {
      acknowledged,
      code,
      kind: asks,
      message,
    } = await call<Refused>(page, 'putUntilRefused', VALUE_BYTES);
    assert.equal(asks, 'unavailable', message);
    if (isTold) assert.equal(code, 'JOURNAL_FULL', message);
    else if (code === 'JOURNAL_UNAVAILABLE') assert.match(message, /disk/);
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
