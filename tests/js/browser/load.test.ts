/**
 * Eight writers on one store under mixed load: pages, and every kind of worker.
 * `FENCEPOST_LOAD_SECONDS=20` runs longer.
 *
 * Every task must be completed under exactly one accepted token, nothing may be refused, all
 * replicas must end with the same rows, and nobody may starve.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { call, type Page } from './browser.js';
import { inEveryBrowser } from './support.js';

const WRITERS = 8;
const WORKERS = ['worker', 'shared worker', 'service worker'];
/** In a busy machine a call needs a while to arrive at the last writer. */
const START_IN_MS = 4000;
const SECONDS = Number(process.env.FENCEPOST_LOAD_SECONDS ?? 6);
/**
 * Each run prints its own. A machine that is busy with other things is unfair by itself: what this
 * refuses is a writer that starves.
 */
const SPREAD_MAX = 3;

/** A page or a worker, with a store of its own. */
interface Writer {
  readonly name: string;
  call<T>(step: string, ...args: unknown[]): Promise<T>;
}

interface Seen {
  enqueued: number[];
  completed: [id: number, token: number][];
  refused: number;
  commands: number;
  longest_ms: number;
}

interface Print {
  ok: boolean;
  version: number;
  hash: string;
}

inEveryBrowser('eight writers under load', (running) => {
  test('every task is completed once, and all end with the same rows', async (context) => {
    const pages: Page[] = [];
    for (let number = WORKERS.length; number < WRITERS; number += 1) {
      pages.push(await running().newPage());
    }
    const writers = await writersOf(pages);
    const logIds = await Promise.all(writers.map((writer) => writer.call('openStore', 'load')));
    assert.deepEqual(logIds, logIds.slice().fill(logIds[0]), 'all work on one log');
    // All at the same time, whenever their calls arrive.
    const start = Date.now() + START_IN_MS;
    const end = start + SECONDS * 1000;
    const shares = await Promise.all(
      writers.map((writer) => writer.call<Seen>('work', writer.name, start, end)),
    );
    const [first] = writers;
    assert.ok(first);
    const rest = await first.call<Seen>('drainMore', first.name);

    requireEachOnce(shares, rest);
    requireEqualRows(await Promise.all(writers.map((writer) => writer.call<Print>('fingerprint'))));
    tell(context, writers, shares);
    await Promise.all(pages.map((page) => page.close()));
  });
});

/** The pages, and one worker of every kind, which the first page starts. */
async function writersOf(pages: readonly Page[]): Promise<Writer[]> {
  const writers: Writer[] = pages.map((page, number) => ({
    name: `page ${number}`,
    call: (step, ...args) => call(page, step, ...args),
  }));
  const [first] = pages;
  assert.ok(first);
  for (const kind of WORKERS) {
    await call(first, 'startWorker', kind);
    const callWorker: Writer['call'] = (step, ...args) =>
      call(first, 'callWorker', kind, step, args);
    writers.push({ name: kind, call: callWorker });
  }
  return writers;
}

function requireEachOnce(shares: readonly Seen[], rest: Seen): void {
  const seen = [...shares, rest];
  const completed = seen.flatMap((writer) => writer.completed);
  const ids = completed.map(([id]) => id).sort((a, b) => a - b);
  const enqueued = shares.flatMap((writer) => writer.enqueued).sort((a, b) => a - b);
  assert.deepEqual(ids, enqueued, 'each task was completed exactly once');
  const tokens = new Set(completed.map(([, token]) => token));
  assert.equal(tokens.size, completed.length, 'each under a token of its own');
  const refused = seen.reduce((sum, writer) => sum + writer.refused, 0);
  assert.equal(refused, 0, 'nothing was refused');
}

function requireEqualRows(prints: readonly Print[]): void {
  assert.equal(new Set(prints.map(({ hash }) => hash)).size, 1, 'all rows are equal');
  assert.equal(new Set(prints.map(({ version }) => version)).size, 1);
  assert.ok(
    prints.every(({ ok }) => ok),
    'every index equals a rebuilt one',
  );
}

function tell(context: TestContext, writers: readonly Writer[], shares: readonly Seen[]): void {
  const commands = shares.map((share) => share.commands);
  const total = commands.reduce((sum, count) => sum + count, 0);
  const spread = Math.max(...commands) / Math.min(...commands);
  const longest = Math.max(...shares.map((share) => share.longest_ms));
  const each = writers.map(({ name }, at) => `${name} ${commands[at]}`).join(', ');
  assert.ok(spread < SPREAD_MAX, `nobody starves: ${each}`);
  context.diagnostic(
    `${(total / SECONDS).toFixed(0)} commands/s, largest share ${spread.toFixed(2)} x the ` +
      `smallest, longest ${longest.toFixed(0)} ms; ${each}`,
  );
}
