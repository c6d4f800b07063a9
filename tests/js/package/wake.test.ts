/** What the alarm of an object is set for, on a fake context and a clock that stands still. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Queue, Store } from 'fencepost';
import { type DurableObjectContext, wakeWhenDue } from 'fencepost/durable-object';
import { bench, claimOne, rejects } from './support.js';
import { withoutZone } from './zones.js';

const SECOND = 1_000;

interface WakeBench {
  store: Store;
  queue: Queue;
  now: () => number;
  /** The alarm as it is set. */
  alarm: { at: number | null };
  /** Lets time pass, for the store and for the runtime. */
  pass: (ms: number) => Promise<void>;
  wake: (queues?: string[]) => Promise<number | null>;
}

async function wakeBench(context: TestContext): Promise<WakeBench> {
  const { store, queue, clock } = await bench();
  context.mock.timers.enable({ apis: ['Date'], now: clock.now() });
  const alarm: { at: number | null } = { at: null };
  const storage = {
    getAlarm: async () => alarm.at,
    setAlarm: async (at: number) => void Object.assign(alarm, { at }),
    deleteAlarm: async () => void Object.assign(alarm, { at: null }),
  };
  const object = { storage } as unknown as DurableObjectContext;
  return {
    store,
    queue,
    now: () => clock.now(),
    alarm,
    pass: async (ms) => {
      await clock.advance(ms);
      context.mock.timers.setTime(clock.now());
      // While it rings, none is set.
      if (alarm.at !== null && alarm.at <= clock.now()) alarm.at = null;
    },
    wake: (queues) => wakeWhenDue(object, store, queues && { queues }),
  };
}

test('work that the alarm does not work off rings it once a second, not at once', async (t) => {
  const { store, queue, now, pass, wake } = await wakeBench(t);
  await queue.enqueue('of nobody');
  assert.equal(await wake(), now() + 1);
  for (let ring = 0; ring < 5; ring += 1) {
    await pass(SECOND);
    assert.equal(await wake(), now() + SECOND);
  }
  await pass(SECOND);
  await claimOne(queue, 'w', { lease: 5 * SECOND });
  assert.equal(await wake(), now() + 5 * SECOND + 1);
  await pass(3 * SECOND);
  await queue.enqueue('new');
  assert.equal(await wake(), now() + 1);
  await store.close();
});

test('requests do not put off the alarm that is set for work', async (t) => {
  const { store, queue, now, alarm, pass, wake } = await wakeBench(t);
  await queue.enqueue('first');
  const soon = await wake();
  assert.equal(await wake(), soon);
  await pass(1);
  await wake();
  const later = alarm.at ?? 0;
  assert.equal(later, now() + SECOND);
  await pass(400);
  assert.equal(await wake(), later);
  // One that is overdue, and one that was lost.
  alarm.at = now() - 5;
  assert.equal(await wake(), now() + 1);
  await store.close();
});

test('only the queues that the alarm works off wake the object, and every schedule', async (t) => {
  const { store, queue, now, alarm, wake } = await wakeBench(t);
  const other = store.queue('other');
  await other.enqueue('ready');
  assert.equal(await wake(['mail']), null);
  assert.equal(alarm.at, null);
  await queue.enqueue('later', { delay: 30 * SECOND });
  assert.equal(await wake(['mail']), now() + 30 * SECOND);
  await queue.pause();
  assert.equal(await wake(['mail']), null);
  await store.outbox('mail').enqueue('ready');
  assert.equal(await wake(['mail', '__fencepost_outbox:mail']), now() + 1);
  await store.schedule('tick', { every: 10 * SECOND }, { queue: 'other', payload: 1 });
  assert.equal(await wake(['mail']), now() + 10 * SECOND);
  await store.close();
});

test('a cron that this runtime cannot work out does not wake the object', async (t) => {
  const { store, now, pass, wake } = await wakeBench(t);
  const far = { cron: '*/10 * * * * *', timeZone: 'Pacific/Chatham' };
  await store.schedule('far', far, { queue: 'mail', payload: 1 });
  assert.equal(await wake(), now() + 10 * SECOND);
  await withoutZone('Pacific/Chatham', async () => {
    await pass(60 * SECOND);
    assert.equal(await wake(), null);
    await store.schedule('near', { cron: '0 * * * *' }, { queue: 'mail', payload: 1 });
    assert.equal(await wake(['mail']), (await store.schedules.get('near'))?.next);
  });
  await store.close();
});

test('what is no queue and an unknown option are refused by name', async (t) => {
  const { store, queue } = await wakeBench(t);
  const object = { storage: { setAlarm: () => undefined } };
  const wake = (...more: unknown[]) =>
    (wakeWhenDue as (...all: unknown[]) => Promise<unknown>)(object, store, ...more);
  assert.match((await rejects(wake({ queues: [queue] }), 'INVALID_ARGUMENT')).message, /queues/);
  assert.match((await rejects(wake({ queue }), 'INVALID_ARGUMENT')).message, /"queue"/);
  await rejects(wakeWhenDue({} as unknown as DurableObjectContext, store), 'INVALID_ARGUMENT');
  await store.close();
});
