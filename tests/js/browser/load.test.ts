/**
 * Eight pages on one store under mixed load. `FENCEPOST_LOAD_SECONDS=20` runs longer.
 *
 * Every task must be completed under exactly one accepted token, nothing may be refused, and all
 * replicas must end with the same rows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from './browser.js';
import { inEveryBrowser } from './support.js';

const PAGES = 8;
/** In a busy machine a call needs a while to arrive at the last page. */
const START_IN_MS = 4000;
const SECONDS = Number(process.env.FENCEPOST_LOAD_SECONDS ?? 4);

interface Seen {
  enqueued: number[];
  completed: [id: number, token: number][];
  refused: number;
  commands: number;
  longest_ms: number;
}

inEveryBrowser('eight pages under load', (running) => {
  test('every task is completed once, and all pages end with the same rows', async (context) => {
    const pages = [];
    for (let number = 0; number < PAGES; number += 1) pages.push(await running().newPage());
    await Promise.all(pages.map((page) => call(page, 'openStore', 'load')));
    // All at the same time, whenever their calls arrive.
    const start = Date.now() + START_IN_MS;
    const end = start + SECONDS * 1000;
    const shares = await Promise.all(
      pages.map((page, number) => call<Seen>(page, 'work', `page ${number}`, start, end)),
    );
    const [first] = pages;
    assert.ok(first);
    const rest = await call<Seen>(first, 'drainMore', 'page 0');

    const seen = [...shares, rest];
    const completed = seen.flatMap((page) => page.completed);
    const ids = completed.map(([id]) => id).sort((a, b) => a - b);
    const enqueued = shares.flatMap((page) => page.enqueued).sort((a, b) => a - b);
    assert.deepEqual(ids, enqueued, 'each task was completed exactly once');
    const tokens = new Set(completed.map(([, token]) => token));
    assert.equal(tokens.size, completed.length, 'each under a token of its own');
    assert.equal(
      seen.reduce((sum, { refused }) => sum + refused, 0),
      0,
      'nothing was refused',
    );

    const prints = await Promise.all(
      pages.map((page) =>
        call<{ ok: boolean; version: number; hash: string }>(page, 'fingerprint'),
      ),
    );
    assert.equal(new Set(prints.map(({ hash }) => hash)).size, 1, 'all rows are equal');
    assert.equal(new Set(prints.map(({ version }) => version)).size, 1);
    assert.ok(
      prints.every(({ ok }) => ok),
      'every index equals a rebuilt one',
    );

    const commands = shares.map((page) => page.commands);
    const total = commands.reduce((sum, count) => sum + count, 0);
    const spread = Math.max(...commands) / Math.min(...commands);
    const longest = Math.max(...shares.map((page) => page.longest_ms));
    context.diagnostic(
      `${ids.length} tasks, ${(total / SECONDS).toFixed(0)} commands/s, ` +
        `largest share ${spread.toFixed(2)} x the smallest, longest ${longest.toFixed(0)} ms`,
    );
  });
});
