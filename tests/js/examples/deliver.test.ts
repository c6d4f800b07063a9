/**
 * The main job under hard treatment: `examples/deliver` runs as a process of its own, is killed, is
 * lied to, and has to tell the truth at the end.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DeliverProcess, type Ended, runToItsEnd } from './deliver-process.js';
import { judge, recordLines, recordPath, requestIds } from './server-record.js';

const ALL = fileURLToPath(new URL('../../../examples/deliver/requests.jsonl', import.meta.url));
const KILLS = 10;
/** The kills must come before the work is done: the record gets more lines than this. */
const KILLED_BY_LINE = 400;
const TIMEOUT = { timeout: 300_000 };

/** A new directory, and in it a run of the first `count` requests. */
function shortRun(t: TestContext, count: number): { dir: string; requests: string; o: string[] } {
  const parent = mkdtempSync(join(tmpdir(), 'fencepost-deliver-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const dir = join(parent, 'run');
  const requests = join(parent, 'requests.jsonl');
  writeFileSync(requests, readFileSync(ALL, 'utf8').split('\n').slice(0, count).join('\n'));
  return { dir, requests, o: ['--dir', dir, '--requests', requests, '--concurrency', '16'] };
}

/** mulberry32: the same moments again for the same seed. */
function seededDraw(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

function numberInRow(ended: Ended, label: string): number {
  const row = new RegExp(`^ ${label} +(\\d+)`, 'm').exec(ended.stdout);
  assert.ok(row, `no row "${label}" in:\n${ended.stdout}`);
  return Number(row[1]);
}

function assertAgrees(ended: Ended, dir: string, requests: string): void {
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  const { applied, refused, problems } = judge(dir, requests);
  assert.deepEqual(problems, []);
  assert.equal(applied + refused, requestIds(requests).length);
  assert.equal(numberInRow(ended, 'delivered'), applied);
  assert.equal(numberInRow(ended, 'dead'), refused);
  assert.equal(numberInRow(ended, 'seen'), recordLines(dir).length);
  assert.match(ended.stdout, /verdict +agrees/);
}

/** What the job is there to show, and shows in every run. */
function assertShows(ended: Ended): void {
  assert.ok(numberInRow(ended, 'killed') > 0, ended.stdout);
  assert.match(ended.stdout, /killed (in the middle of its|at) work\. Others claimed what/);
  assert.ok(numberInRow(ended, 'fenced off') > 0, ended.stdout);
  assert.match(ended.stdout, /Who came late, .*came under a token that was\n too old/);
}

test('a run ends with a table that the record of the server confirms', TIMEOUT, async (t) => {
  const { dir, requests, o } = shortRun(t, Infinity);
  const ended = await runToItsEnd(...o);
  assertAgrees(ended, dir, requests);
  assertShows(ended);
  assert.equal(numberInRow(ended, 'requests'), 300);
  assert.ok(numberInRow(ended, 'dead') > 0, 'the network refuses some for good');
  assert.ok(numberInRow(ended, 'retried') > 0, 'the network makes some come again');
  assert.ok(numberInRow(ended, 'repeated') > 0, 'the network loses some answers');
  const tooWide = ended.stdout.split('\n').filter((line) => line.length > 79);
  assert.deepEqual(tooWide, [], 'it fits into 80 columns');
});

test('killed at ten moments nothing is lost and nothing applied twice', TIMEOUT, async (t) => {
  const seed = Number(process.env.DELIVER_TEST_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`DELIVER_TEST_SEED=${seed}`);
  const draw = seededDraw(seed);
  const { dir, requests, o } = shortRun(t, Infinity);
  o.push('--concurrency', '8');

  const moments = Array.from({ length: KILLS }, () => draw(KILLED_BY_LINE)).sort((a, b) => a - b);
  for (const [index, recorded] of moments.entries()) {
    const kill = index + 1;
    const run = new DeliverProcess(...o);
    // Three in ten die while they start: before the lease, the enqueueing or the first request.
    const printed = draw(10) < 3 ? 1 + draw(3) : Infinity;
    const isTime = () =>
      run.lines.length >= printed || (run.lines.length > 0 && recordLines(dir).length > recorded);
    assert.ok(await run.reaches(isTime), `the run ended before kill ${kill}`);
    const ended = await run.signal('SIGKILL');
    assert.equal(ended.signal, 'SIGKILL', `kill ${kill} came too late: ${JSON.stringify(ended)}`);
    t.diagnostic(`kill ${kill}: ${run.lines.length} lines, ${recordLines(dir).length} recorded`);
  }

  const ended = await runToItsEnd(...o);
  assertAgrees(ended, dir, requests);
  assertShows(ended);
  assert.ok(numberInRow(ended, 'killed') > 1, 'these were killed at work, too');
});

for (const count of [1, 2, 9]) {
  test(`a worker is killed and a zombie fenced off in a run of ${count}`, TIMEOUT, async (t) => {
    const { dir, requests, o } = shortRun(t, count);
    const ended = await runToItsEnd(...o);
    assertAgrees(ended, dir, requests);
    assertShows(ended);
    assert.match(ended.stdout, /Killing the worker \(process \d+\) with \d+ requests under way/);
    assert.match(
      ended.stdout,
      /A zombie slept over .*\n.*\n +The server: 409 .*\n.*: (settled|gone)/,
    );
  });
}

test('a calm run kills nobody and has no zombie', TIMEOUT, async (t) => {
  const { dir, requests, o } = shortRun(t, 9);
  const ended = await runToItsEnd(...o, '--calm');
  assertAgrees(ended, dir, requests);
  assert.equal(numberInRow(ended, 'killed'), 0);
  assert.equal(numberInRow(ended, 'fenced off'), 0);
  assert.match(ended.stdout, /No worker was killed\.\n Nobody came late\./);
});

test('the server dies with its killed parent', TIMEOUT, async (t) => {
  const { o } = shortRun(t, 40);
  const run = new DeliverProcess(...o, '--calm');
  await run.reaches(() => run.lines.some((line) => line.startsWith('progress')));
  const origin = /http:\S+/.exec(run.lines.join('\n'))?.[0];
  assert.ok(origin);
  assert.equal((await fetch(origin)).status, 400, 'it listens');
  // The server holds the other end of stderr, so this resolves only once it has ended as well.
  await run.signal('SIGKILL');
  await assert.rejects(fetch(origin), { message: 'fetch failed' });
});

test('a stopped run lets running requests finish and goes on later', TIMEOUT, async (t) => {
  const { dir, requests, o } = shortRun(t, 60);
  o.push('--calm');
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const run = new DeliverProcess(...o);
    const before = recordLines(dir).length;
    await run.reaches(() => recordLines(dir).length > before + 10);
    const ended = await run.signal(name);
    assert.equal(ended.code, code, ended.stdout + ended.stderr);
    assert.match(ended.stdout, /Stopped\. The same command goes on from here\./);
    assert.equal(ended.stderr, '');
  }
  const other = await runToItsEnd(...o, '--seed', '2');
  assert.equal(other.code, 2);
  assert.match(other.stderr, /holds a run with the seed 1: finish it/);

  const last = await runToItsEnd(...o);
  assertAgrees(last, dir, requests);
  assert.doesNotMatch(last.stdout, /still holds the lease/, 'a stopped run released it');
});

test('a finished run is shown again or followed by a new one', TIMEOUT, async (t) => {
  const { dir, requests, o } = shortRun(t, 20);
  const first = await runToItsEnd(...o);
  const record = recordLines(dir);
  const shown = await runToItsEnd(...o, '--resume');
  assertAgrees(shown, dir, requests);
  assert.match(shown.stdout, /All 20 requests were enqueued before/);
  assert.deepEqual(recordLines(dir), record, 'nothing was sent again');
  assert.equal(numberInRow(shown, 'attempts'), numberInRow(first, 'attempts'));

  const next = await runToItsEnd(...o);
  assertAgrees(next, dir, requests);
  assert.match(next.stdout, /a new one begins/);
  assert.ok(
    recordLines(dir).every((line) => !record.includes(line)),
    'the record is a new one',
  );
});

test('two at once work one after the other', TIMEOUT, async (t) => {
  const { dir, requests, o } = shortRun(t, 30);
  o.push('--calm');
  const first = new DeliverProcess(...o);
  await first.reaches(() => recordLines(dir).length > 0);
  const second = await runToItsEnd(...o);
  assertAgrees(await first.ended, dir, requests);
  assertAgrees(second, dir, requests);
  assert.match(second.stdout, /Waiting until that process ends/);
});

test('a record that disagrees fails the run', TIMEOUT, async (t) => {
  const { dir, o } = shortRun(t, 20);
  assert.equal((await runToItsEnd(...o)).code, 0);
  const honest = readFileSync(recordPath(dir), 'utf8');
  const applied = recordLines(dir)
    .map((line) => JSON.parse(line))
    .find((line) => line.applied);

  const { token, attempt } = applied;
  const again = JSON.stringify({ ...applied, token: token + 1_000, attempt: attempt + 1 });
  appendFileSync(recordPath(dir), `${again}\n`);
  const twice = await runToItsEnd(...o, '--resume');
  assert.equal(twice.code, 1);
  assert.match(twice.stdout, /verdict +DISAGREES/);
  assert.match(twice.stderr, new RegExp(`${applied.id} was delivered, and applied 2 times`));

  const without = honest.split('\n').filter((line) => !line.includes(`"${applied.id}"`));
  writeFileSync(recordPath(dir), without.join('\n'));
  const never = await runToItsEnd(...o, '--resume');
  assert.equal(never.code, 1);
  assert.match(never.stderr, new RegExp(`${applied.id} was delivered, and applied 0 times`));
});

test('what the command line gets wrong is named', async (t) => {
  const { dir, o } = shortRun(t, 1);
  const broken = join(dir, '..', 'broken.jsonl');
  writeFileSync(broken, '{"id":"a","method":"GET","path":"/"}\n{"id":"a"\n');
  const cases: [string[], RegExp][] = [
    [['--frehs'], /Unknown option '--frehs'/],
    [['now'], /Unexpected argument 'now'/],
    [['--concurrency', '0'], /--concurrency must be a whole number from 1 to 100, not "0"/],
    [['--seed', '1.5'], /--seed must be a whole number/],
    [['--fresh', '--resume'], /exclude each other/],
    [['--requests', join(dir, 'none')], /cannot read the requests: ENOENT/],
    [['--requests', broken], /broken\.jsonl, line 2: not JSON/],
    [['--dir', tmpdir()], /is not a run's directory/],
  ];
  for (const [options, message] of cases) {
    const ended = await runToItsEnd(...o, ...options);
    assert.equal(ended.code, 2, options.join(' '));
    assert.match(ended.stderr, message);
    assert.equal(ended.stdout, '');
  }
});

test('help names every option', async () => {
  const { code, stdout } = await runToItsEnd('--help');
  assert.equal(code, 0);
  for (const name of [
    'dir',
    'requests',
    'concurrency',
    'seed',
    'calm',
    'fresh',
    'resume',
    'quiet',
  ]) {
    assert.match(stdout, new RegExp(`^ {2}--${name} `, 'm'));
  }
});
