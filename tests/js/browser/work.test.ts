/** Promises 63, 64, 65 and 68 between two tabs of a real browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskRecord } from 'fencepost';
import { call, type Page } from './browser.js';
import { chromium } from './chromium.js';
import { closeQuietly, inBrowsers, tabsWith } from './support.js';

/** Time enough for the other tab, also on a busy machine. */
const BLOCK_MS = 10_000;
const SHORT_LEASE_MS = 1_500;
const RETRY_MS = 100_000;

/** What a handler saw. */
interface Run {
  id: number;
  attempt: number;
  token: number;
  code: string | null;
  reason: string | null;
  blockedUntil?: number;
  refusal?: string;
}

inBrowsers([chromium], 'work in two tabs', (running) => {
  test('another tab sees what a handler returned or threw', async () => {
    const [left, right] = await tabsWith(running().newPage, 'said');
    const ids = await call<number[]>(
      right,
      'enqueueJobs',
      { deed: 'return', value: { sent: 3 } },
      { deed: 'fail' },
      { deed: 'bury' },
      { deed: 'retryAfter', ms: RETRY_MS },
    );
    await call(left, 'startWorking', { concurrency: 4 });
    const [returned, failed, buried, retried] = await rowsWhen(right, ids, [
      'done',
      'scheduled',
      'dead',
      'scheduled',
    ]);
    assert.deepEqual(returned?.result, { sent: 3 });
    assert.deepEqual([failed?.lastError, failed?.attempt], ['not now', 1]);
    assert.deepEqual([buried?.lastError, buried?.deadReason], ['never', 'failed']);
    assert.equal((retried?.runAt ?? 0) - (retried?.updatedAt ?? 0), RETRY_MS);
    await closeQuietly(left, right);
  });

  test('a tab that blocks past its lease loses the task to another one', async () => {
    const [left, right] = await tabsWith(running().newPage, 'blocked');
    const job = { deed: 'block', ms: BLOCK_MS, value: 'in time' };
    const [id = 0] = await call<number[]>(right, 'enqueueJobs', job);
    await call(left, 'startWorking', { lease: SHORT_LEASE_MS, owner: 'left' });
    assert.equal((await call<TaskRecord>(right, 'rowWhen', id, 'inflight')).owner, 'left');
    await call(right, 'startWorking', { owner: 'right' });
    const row = await call<TaskRecord>(right, 'rowWhen', id, 'done');
    await call(left, 'untilIdle');

    const [lost] = await call<Run[]>(left, 'runsOfPage');
    const [taken] = await call<Run[]>(right, 'runsOfPage');
    assert.ok(row.updatedAt < (lost?.blockedUntil ?? 0), 'it was done while the tab stood still');
    assert.deepEqual([lost?.code, lost?.refusal], ['LEASE_LOST', 'settled']);
    assert.ok((taken?.token ?? 0) > (lost?.token ?? 0));
    const after = await call<TaskRecord>(right, 'rowOf', id);
    assert.deepEqual([after.result, after.lastOwner, after.attempt], ['in time', 'right', 2]);
    await closeQuietly(left, right);
  });

  test('a worker that stops renews what runs and claims nothing more', async () => {
    const [left, right] = await tabsWith(running().newPage, 'stopped');
    const [first = 0] = await call<number[]>(right, 'enqueueJobs', { deed: 'wait' });
    await call(left, 'startWorking', { lease: SHORT_LEASE_MS });
    await call(right, 'rowWhen', first, 'inflight');
    await call(left, 'beginStop');
    const [second = 0] = await call<number[]>(right, 'enqueueJobs', { deed: 'return' });
    await call(right, 'untilRenewed', first, 3);
    await call(left, 'letHandlersGo');
    assert.equal(await call(left, 'endOfStop'), 0);
    assert.equal((await call<TaskRecord>(right, 'rowOf', first)).state, 'done');
    const waiting = await call<TaskRecord>(right, 'rowOf', second);
    assert.deepEqual([waiting.state, waiting.attempt], ['ready', 0]);
    await closeQuietly(left, right);
  });

  test('a task cancelled in another tab aborts its handler, and no other one', async () => {
    const [left, right] = await tabsWith(running().newPage, 'cancelled');
    const jobs = [{ deed: 'listen' }, { deed: 'wait' }];
    const [unwanted = 0, other = 0] = await call<number[]>(right, 'enqueueJobs', ...jobs);
    await call(left, 'startWorking', { concurrency: 2 });
    await rowsWhen(right, [unwanted, other], ['inflight', 'inflight']);
    assert.equal(await call(right, 'cancel', unwanted, 'sold out'), true);
    await call(left, 'letHandlersGo');
    await call(left, 'untilIdle');
    const runs = await call<Run[]>(left, 'runsOfPage');
    const seen = runs.map(({ id, code, reason }) => [id, code, reason]);
    assert.deepEqual(seen, [
      [unwanted, 'CANCELLED', 'sold out'],
      [other, null, null],
    ]);
    assert.equal(await call(right, 'rowOf', unwanted), null);
    assert.equal((await call<TaskRecord>(right, 'rowOf', other)).state, 'done');
    await closeQuietly(left, right);
  });
});

function rowsWhen(page: Page, ids: number[], states: string[]): Promise<TaskRecord[]> {
  return Promise.all(ids.map((id, at) => call<TaskRecord>(page, 'rowWhen', id, states[at])));
}
