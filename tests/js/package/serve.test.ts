/** What the alarm of an object is set for, on a fake context and a clock that stands still. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Queue, Store } from 'fencepost';
import { type DurableObjectContext, type Service, serve } from 'fencepost/durable-object';
import { bench, throws } from './support.js';
import { withoutZone } from './zones.js';

const SECOND = 1_000;

interface Served {
  store: Store;
  queue: Queue;
  service: Service;
  now: () => number;
  /** The alarm as it is set. */
  alarm: { at: number | null };
  /** Lets time pass, for the store and for the runtime; answers whether the alarm rang. */
  pass: (ms: number) => Promise<boolean>;
  /** When it rings, from now on. */
  armedIn: () => Promise<number | null>;
}

/** `takes`: whether whoever serves the queue `mail` may claim in it. */
async function served(context: TestContext, takes = true): Promise<Served> {
  const { store, queue, clock } = await bench();
  context.mock.timers.enable({ apis: ['Date'], now: clock.now() });
  const alarm: { at: number | null } = { at: null };
  const values = new Map<string, unknown>();
  const storage = {
    getAlarm: async () => alarm.at,
    setAlarm: async (at: number) => void Object.assign(alarm, { at }),
    deleteAlarm: async () => void Object.assign(alarm, { at: null }),
    get: async (key: string) => values.get(key),
    put: async (key: string, value: unknown) => void values.set(key, value),
  };
  const object = { storage } as unknown as DurableObjectContext;
  // A worker whose connection never comes claims nothing.
  const idle = { ...queue, name: 'mail', nextDue: () => queue.nextDue(), work: () => NOBODY };
  const handler = () => undefined;
  const handlers = takes ? { mail: handler } : [{ queue: idle as unknown as Queue, handler }];
  const service = serve(object, store, handlers, { alarm: () => undefined });
  const now = () => clock.now();
  return {
    store,
    queue,
    service,
    now,
    alarm,
    pass: async (ms) => {
      await clock.advance(ms);
      context.mock.timers.setTime(now());
      if (alarm.at === null || alarm.at > now()) return false;
      // While it rings, none is set.
      alarm.at = null;
      await service.alarm();
      return true;
    },
    armedIn: async () => {
      const at = await service.armed();
      return at === null ? null : at - now();
    },
  };
}

const NOBODY = { idle: async () => undefined, stop: async () => undefined };

test('work that nobody takes rings after longer and longer pauses', async (t) => {
  const { store, queue, alarm, now, pass, armedIn } = await served(t, false);
  await queue.enqueue('of nobody');
  assert.equal(await armedIn(), 1);
  const pauses = [];
  for (let ring = 0; ring < 14; ring += 1) {
    assert.ok(await pass((alarm.at ?? 0) - now()));
    pauses.push((alarm.at ?? 0) - now());
    // A request in between does not shorten it.
    assert.equal(await armedIn(), pauses.at(-1));
  }
  assert.deepEqual(pauses.slice(0, 5), [1, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(pauses.at(-1), 900 * SECOND);
  await store.close();
});

test('what is taken rings for the next one, and only served queues and schedules do', async (t) => {
  const { store, queue, alarm, now, pass, armedIn } = await served(t);
  await store.queue('other').enqueue('ready');
  assert.equal(await armedIn(), null);
  await queue.enqueue('first', { delay: 5 * SECOND });
  await queue.enqueue('second', { delay: 30 * SECOND });
  assert.equal(await armedIn(), 5 * SECOND);
  assert.ok(await pass(5 * SECOND));
  assert.equal((alarm.at ?? 0) - now(), 25 * SECOND);
  await store.schedule('tick', { every: 10 * SECOND }, { queue: 'other', payload: 1 });
  assert.equal(await armedIn(), 10 * SECOND);
  await store.unschedule('tick');
  await queue.pause();
  assert.equal(await armedIn(), null);
  assert.equal(alarm.at, null);
  await store.close();
});

test("the object's own alarm is kept, in whichever way it was set", async (t) => {
  const { store, queue, service, alarm, now, pass, armedIn } = await served(t);
  await service.setAlarm(now() + 20 * SECOND);
  await queue.enqueue('first', { delay: 5 * SECOND });
  assert.equal(await armedIn(), 5 * SECOND);
  assert.ok(await pass(5 * SECOND));
  assert.equal((alarm.at ?? 0) - now(), 15 * SECOND);
  // Past the service.
  alarm.at = now() + 60 * SECOND;
  await queue.enqueue('second', { delay: 10 * SECOND });
  assert.equal(await armedIn(), 10 * SECOND);
  assert.equal(await service.getAlarm(), now() + 60 * SECOND);
  assert.ok(await pass(10 * SECOND));
  assert.equal(alarm.at, now() + 50 * SECOND);
  await service.deleteAlarm();
  assert.equal(alarm.at, null);
  await store.close();
});

test('a cron that this runtime cannot work out does not wake the object', async (t) => {
  const { store, pass, armedIn } = await served(t);
  const far = { cron: '*/10 * * * * *', timeZone: 'Pacific/Chatham' };
  await store.schedule('far', far, { queue: 'other', payload: 1 });
  assert.equal(await armedIn(), 10 * SECOND);
  await withoutZone('Pacific/Chatham', async () => {
    await pass(60 * SECOND);
    assert.equal(await armedIn(), null);
  });
  await store.close();
});

test('what is no context, no handler and no option is refused by name', async (t) => {
  const { store } = await served(t);
  const object = { storage: { setAlarm: () => undefined } };
  const call = serve as (...all: unknown[]) => unknown;
  for (const [named, ...all] of [
    [/^ctx/, {}, store, {}],
    [/^handlers\.mail/, object, store, { mail: 1 }],
    [/^handlers\[0\]\.queue/, object, store, [{ queue: 'mail', handler: () => 1 }]],
    [/^options/, object, store, {}, { queues: [] }],
  ] as const) {
    assert.match(throws(() => call(...all), 'INVALID_ARGUMENT').message, named);
  }
  await store.close();
});
