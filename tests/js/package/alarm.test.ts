/** One runtime timer for everything in a store that waits for a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alarm, type Bell } from '../../../pkg/dist/alarm.js';
import { LogClock } from '../../../pkg/dist/clock.js';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';
import { bench } from './support.js';

const HOUR = 3_600_000;

interface Rung {
  clock: VirtualClock;
  alarm: Alarm;
  /** What rang, and when on the monotonic clock. */
  rang: [string, number][];
  bell(name: string, and?: () => void): Bell;
}

function alarmed(): Rung {
  const clock = virtualClock();
  const log = new LogClock(clock);
  log.observe(clock.now());
  const alarm = new Alarm(log);
  const rang: [string, number][] = [];
  const bell = (name: string, and?: () => void) =>
    alarm.bell('keeps the process alive', () => {
      rang.push([name, clock.monotonic()]);
      and?.();
    });
  return { clock, alarm, rang, bell };
}

test('bells ring once each in their order, on one timer', async () => {
  const { clock, rang, bell } = alarmed();
  bell('late').ringAfter(300);
  bell('log').ringAt(clock.now() + 200);
  bell('soon').ringAfter(100);
  assert.equal(clock.timers, 1);
  await clock.advance(1_000);
  assert.deepEqual(rang, [
    ['soon', 100],
    ['log', 200],
    ['late', 300],
  ]);
  assert.deepEqual([clock.timers, clock.firings], [0, 3]);
});

test('a far bell does not hide a near one, and setting again replaces', async () => {
  const { clock, rang, bell } = alarmed();
  const far = bell('far');
  far.ringAfter(HOUR);
  bell('near').ringAfter(10);
  far.ringAfter(20);
  far.ringAfter(30);
  await clock.advance(HOUR);
  assert.deepEqual(rang, [
    ['near', 10],
    ['far', 30],
  ]);
});

test('a bell beyond what a timer holds rings on time, in steps', async () => {
  const { clock, rang, bell } = alarmed();
  bell('exactly').ringAfter(2 ** 31);
  bell('far').ringAt(clock.now() + 2 ** 33);
  await clock.advance(2 ** 31 - 1);
  assert.deepEqual(rang, []);
  await clock.advance(2 ** 33);
  assert.deepEqual(rang, [
    ['exactly', 2 ** 31],
    ['far', 2 ** 33],
  ]);
});

test('a silenced bell leaves no timer and no firing behind', async () => {
  const { clock, rang, bell } = alarmed();
  const [one, other] = [bell('one'), bell('other')];
  one.ringAfter(10);
  other.ringAfter(20);
  one.silence();
  one.silence();
  await clock.advance(20);
  assert.deepEqual(rang, [['other', 20]]);
  assert.equal(clock.firings, 1);
  one.ringAt(clock.now() + 5);
  clock.setWall(clock.now() + HOUR);
  one.silence();
  assert.equal(clock.timers, 0);
});

test('of bells due together, one may silence and set the others', async () => {
  const { clock, rang, bell } = alarmed();
  const second = bell('second');
  const third = bell('third');
  bell('first', () => {
    second.silence();
    third.ringAfter(5);
  }).ringAfter(10);
  second.ringAfter(10);
  third.ringAfter(10);
  await clock.advance(100);
  assert.deepEqual(rang, [
    ['first', 10],
    ['third', 15],
  ]);
});

test('a bell that throws keeps no other one from ringing, now or later', async () => {
  const { clock, rang, bell } = alarmed();
  const thrown = new Error('a tantrum');
  bell('bad', () => {
    throw thrown;
  }).ringAfter(10);
  bell('beside').ringAfter(10);
  bell('later').ringAfter(20);
  const outcome = await clock.advance(10).catch((error: unknown) => error);
  assert.equal(outcome, thrown);
  await clock.advance(10);
  assert.deepEqual(rang, [
    ['bad', 10],
    ['beside', 10],
    ['later', 20],
  ]);
});

test('timers that were frozen fire late, once', async () => {
  const { clock, rang, bell } = alarmed();
  const again = bell('again', () => again.ringAfter(100));
  again.ringAfter(100);
  await clock.freeze(10_000);
  await clock.advance(150);
  assert.deepEqual(rang, [
    ['again', 10_000],
    ['again', 10_100],
  ]);
});

test('a wall clock that jumps is noticed by the next look', async () => {
  const { clock, alarm, rang, bell } = alarmed();
  bell('log').ringAt(clock.now() + HOUR);
  clock.setWall(clock.now() + HOUR);
  await clock.advance(1_000);
  assert.deepEqual(rang, []);
  alarm.review();
  await clock.advance(0);
  assert.deepEqual(rang, [['log', 1_000]]);
});

test('a wall clock that is set back makes a bell at most a ninth late', async () => {
  const { clock, alarm, rang, bell } = alarmed();
  bell('log').ringAt(clock.now() + 900);
  clock.setWall(clock.now() - HOUR);
  alarm.review();
  await clock.advance(2_000);
  assert.deepEqual(rang, [['log', 1_000]]);
});

test('the timer keeps the process alive only for bells that are to do so', () => {
  const held: boolean[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimer: () => {
      const index = held.push(true) - 1;
      const hold = (value: boolean) => () => {
        held[index] = value;
      };
      return { cancel: hold(false), unref: hold(false), ref: hold(true) };
    },
  };
  const alarm = new Alarm(new LogClock(clock));
  const isHeld = () => held.some((value) => value);
  alarm.bell('lets the process end', () => undefined).ringAfter(10);
  assert.equal(isHeld(), false);
  const vital = alarm.bell('keeps the process alive', () => undefined);
  vital.ringAfter(20);
  assert.equal(isHeld(), true);
  vital.silence();
  assert.equal(isHeld(), false);
  vital.ringAfter(5);
  assert.equal(isHeld(), true);
});

test('an idle store has at most one timer, and none when nothing will be due', async () => {
  const { queue, clock } = await bench();
  await clock.settle();
  assert.equal(clock.timers, 0);
  await queue.enqueue(1, { delay: HOUR });
  const { id } = await queue.enqueue(2, { delay: 10, expiresIn: 5_000 });
  await clock.settle();
  assert.equal(clock.timers, 1);
  await clock.advance(4_999);
  const { firings } = clock;
  await clock.advance(1);
  assert.equal((await queue.get(id))?.state, 'dead');
  await clock.advance(HOUR / 2);
  assert.equal(clock.firings, firings + 1);
});
