/** Cron expressions over real zone data: daylight saving, absences, what cannot be worked out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FencepostError, memory, open, type Store } from 'fencepost';
import { gridOf } from '../../../pkg/dist/cron.js';
import { passedBy } from '../../../pkg/dist/cron-grid.js';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench } from './support.js';
import { withoutZone } from './zones.js';

/** A zone, an expression, a stretch of time in UTC, and when it fires in it. */
type Case = [zone: string, cron: string, from: string, to: string, fires: string[]];

const CASES: Case[] = [
  // Berlin, spring: 02:00 to 03:00 is skipped. A fixed time in it fires at its end.
  ['Europe/Berlin', '30 2 * * *', '2025-03-29T12', '2025-03-31T12', ['30T01:00', '31T00:30']],
  ['Europe/Berlin', '15,45 2 * * *', '2025-03-30T00', '2025-03-30T12', ['30T01:00']],
  ['Europe/Berlin', '0 3 * * *', '2025-03-30T00', '2025-03-30T12', ['30T01:00']],
  ['Europe/Berlin', '30 1 * * *', '2025-03-30T00', '2025-03-30T12', ['30T00:30']],
  // A rhythm has nothing to fire in the gap.
  ['Europe/Berlin', '*/30 2 * * *', '2025-03-30T00', '2025-03-30T12', []],
  [
    'Europe/Berlin',
    '*/30 * * * *',
    '2025-03-30T00',
    '2025-03-30T02',
    ['30T00:30', '30T01:00', '30T01:30'],
  ],
  // Autumn: 02:00 to 03:00 comes twice. A fixed time fires the first time.
  ['Europe/Berlin', '30 2 * * *', '2025-10-25T12', '2025-10-27T12', ['26T00:30', '27T01:30']],
  ['Europe/Berlin', '15,45 2 * * *', '2025-10-25T12', '2025-10-26T12', ['26T00:15', '26T00:45']],
  [
    'Europe/Berlin',
    '0 1-3 * * *',
    '2025-10-25T12',
    '2025-10-26T12',
    ['25T23:00', '26T00:00', '26T02:00'],
  ],
  // A rhythm goes through both.
  [
    'Europe/Berlin',
    '0 * * * *',
    '2025-10-25T23:30',
    '2025-10-26T02:30',
    ['26T00:00', '26T01:00', '26T02:00'],
  ],
  [
    'Europe/Berlin',
    '*/30 2 * * *',
    '2025-10-25T12',
    '2025-10-26T12',
    ['26T00:00', '26T00:30', '26T01:00', '26T01:30'],
  ],
  ['America/New_York', '30 2 * * *', '2025-03-08T20', '2025-03-10T20', ['09T07:00', '10T06:30']],
  ['America/New_York', '30 1 * * *', '2025-11-01T20', '2025-11-03T20', ['02T05:30', '03T06:30']],
  // Half an hour, in the other half of the year.
  ['Australia/Lord_Howe', '15 2 * * *', '2025-10-04T04', '2025-10-06T04', ['04T15:30', '05T15:15']],
  ['Australia/Lord_Howe', '45 1 * * *', '2025-04-05T04', '2025-04-07T04', ['05T14:45', '06T15:15']],
  [
    'Australia/Lord_Howe',
    '*/15 1 * * *',
    '2025-04-05T14:20',
    '2025-04-05T15:31',
    ['05T14:30', '05T14:45', '05T15:00', '05T15:15'],
  ],
  // Midnight itself was skipped here, and came twice; since 2019 nothing changes.
  ['America/Sao_Paulo', '0 0 * * *', '2018-11-03T12', '2018-11-05T12', ['04T03:00', '05T02:00']],
  ['America/Sao_Paulo', '30 23 * * *', '2018-02-17T12', '2018-02-19T12', ['18T01:30', '19T02:30']],
  ['America/Sao_Paulo', '30 2 * * *', '2025-10-25T12', '2025-10-27T12', ['26T05:30', '27T05:30']],
  ['UTC', '30 2 * * *', '2025-03-29T12', '2025-03-31T12', ['30T02:30', '31T02:30']],
  ['Asia/Kathmandu', '0 12 * * *', '2025-03-29T12', '2025-03-31T00', ['30T06:15']],
];

for (const [zone, cron, from, to, fires] of CASES) {
  test(`${cron} in ${zone} from ${from} fires ${fires.length} times`, () => {
    const fired = walk(zone, cron, utc(from), utc(to));
    assert.deepEqual(
      fired.map((at) => new Date(at).toISOString().slice(8, 16)),
      fires,
    );
  });
}

test('whoever looks from wherever sees the same boundaries', () => {
  for (const [zone, cron, from, to] of CASES) {
    const [start, end] = [utc(from), utc(to)];
    const all = walk(zone, cron, start, end);
    const grid = gridOf(cron, zone);
    for (let at = start; at < end; at += 577_013) {
      const expected = all.find((boundary) => boundary > at);
      const found = grid.after(at);
      if (expected === undefined) assert.ok(found === undefined || found >= end);
      else assert.equal(found, expected, `${cron} in ${zone} after ${new Date(at).toISOString()}`);
    }
  }
});

test('what has come is told without walking through all of it', () => {
  const start = utc('2025-01-01T00');
  const year = utc('2026-01-01T00');
  for (const [cron, zone] of [
    ['* * * * * *', 'Europe/Berlin'],
    ['30 2 * * *', 'Europe/Berlin'],
    ['* * 9 * * MON', 'America/New_York'],
    ['0 0 29 2 *', 'UTC'],
  ] as const) {
    const grid = gridOf(cron, zone);
    let looks = 0;
    const counted = {
      after(at: number) {
        looks += 1;
        return grid.after(at);
      },
    };
    const next = grid.after(start) ?? Number.NaN;
    const now = Math.max(next, year + 123);
    const passed = passedBy(counted, next, now);
    assert.ok(looks < 150, `${looks} looks`);
    assert.equal(passed.oldest[0], next);
    assert.ok(passed.oldest.length <= 64);
    assert.equal(passed.next, grid.after(now));
    assert.ok(passed.newest <= now);
    const following = grid.after(passed.newest) ?? Infinity;
    assert.ok(following > now, `${cron}: ${following} came after what was called the newest`);
  }
});

for (const from of ['2025-03-28T00', '2025-10-24T00']) {
  test(`a daily job in the changed hour makes one task a day from ${from} on`, async () => {
    const clock = virtualClock(utc(from));
    const store = await open('test', { clock, journal: memory() });
    const job = { queue: 'mail', payload: 1 };
    await store.schedule('daily', { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }, job);
    const days = [];
    for (let day = 0; day < 6; day += 1) {
      await clock.advance(86_400_000);
      const claimed = await store.queue('mail').claim('w', { max: 9 });
      days.push(await store.queue('mail').completeMany(claimed));
    }
    assert.deepEqual(days, [1, 1, 1, 1, 1, 1]);
    await store.close();
  });
}

test('a zone that this runtime does not know is left to others, and nothing spins', async () => {
  const { store, clock, journal } = await bench();
  const start = clock.now();
  const job = { queue: 'mail', payload: 1 };
  await store.schedule('far', { cron: '*/10 * * * * *', timeZone: 'Pacific/Chatham' }, job);
  await store.schedule('near', { cron: '*/10 * * * * *', timeZone: 'UTC' }, job);
  await store.close();
  const poor = await withoutZone('Pacific/Chatham', async () => {
    const opened = await open('test', { clock, journal });
    const before = clock.firings;
    await clock.advance(65_000);
    assert.ok(clock.firings - before < 40, `${clock.firings - before} wakes in a minute`);
    return opened;
  });
  const fired = (await tasks(poor)).map(({ boundary }) => (boundary ?? 0) - start);
  assert.deepEqual(fired, [10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
  assert.equal((await poor.schedules.get('far'))?.next, start + 10_000);
  await poor.close();
  // One that knows it catches up.
  const rich = await open('test', { clock, journal });
  await clock.advance(1);
  assert.equal((await tasks(rich)).length, 12);
  assert.equal((await rich.schedules.get('far'))?.next, start + 70_000);
  await rich.close();
});

test('a schedule that this runtime cannot fire says so, once, and in its record', async () => {
  const { store, clock, journal } = await bench();
  const far = { cron: '*/10 * * * * *', timeZone: 'Pacific/Chatham' };
  const job = { queue: 'mail', payload: 1 };
  await store.schedule('far', far, job);
  assert.equal((await store.schedules.get('far'))?.unfired, undefined);
  await store.close();
  await withoutZone('Pacific/Chatham', async () => {
    const told: FencepostError[] = [];
    const onError = (error: FencepostError) => {
      told.push(error);
      throw new Error('of a listener');
    };
    const poor = await open('test', { clock, journal, onError });
    await clock.advance(125_000);
    const [first, ...others] = told;
    assert.deepEqual(
      [first?.code, first?.details.schedule, others],
      ['INVALID_SCHEDULE', 'far', []],
    );
    assert.match(first?.message ?? '', /"far" cannot be fired by this runtime: .*Pacific\/Chatham/);
    const [listed] = await poor.schedules.list();
    for (const record of [listed, await poor.schedules.get('far')]) {
      assert.match(record?.unfired ?? '', /a time zone that this runtime knows/);
    }
    await poor.close();
  });
});

async function tasks(store: Store) {
  return (await store.queue('mail').list({ limit: 1_000 })).items;
}

/** Every boundary between two instants, one by one. */
function walk(zone: string, cron: string, from: number, to: number): number[] {
  const grid = gridOf(cron, zone);
  const found = [];
  for (let at = grid.after(from); at !== undefined && at < to; at = grid.after(at)) found.push(at);
  return found;
}

function utc(text: string): number {
  return Date.parse(text.includes(':') ? `${text}Z` : `${text}:00Z`);
}
