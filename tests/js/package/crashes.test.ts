/** An engine that crashes is dropped, and a new one goes on from the journal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogClock } from '../../../pkg/dist/clock.js';
import { Committer } from '../../../pkg/dist/committer.js';
import { memory } from '../../../pkg/dist/journal/memory.js';
import { node } from '../../../pkg/dist/platform/node.js';
import { Replica } from '../../../pkg/dist/replica.js';
import type { Bridge } from '../../../pkg/dist/requests.js';
import { StoreHandle } from '../../../pkg/dist/store.js';
import { virtualClock } from '../../../pkg/dist/testing/clock.js';
import { Upkeep } from '../../../pkg/dist/upkeep.js';
import { claimOne, held, rejects } from './support.js';

interface Plan {
  /** Calls of this method crash, as often as this says. */
  method: keyof Bridge;
  times: number;
}

/** A store whose engine crashes on demand, and how many engines it has used. */
async function crashing() {
  const module = await node.engine();
  const plan: Plan = { method: 'queueEnqueue', times: 0 };
  const used = { engines: 0, afterCrash: 0 };
  const create = () => {
    used.engines += 1;
    return crashOnDemand(module.create({ store: 'test' }), plan, used);
  };
  const [journal, clock] = [memory(), virtualClock()];
  const replica = new Replica(create);
  const parts = { journal, replica, clock: new LogClock(clock), timeout: 1_000 };
  const committer = new Committer(parts);
  replica.accept(await journal.open('test'));
  await committer.ask('command', undefined, (engine, { now }) => engine.found(now));
  const store = new StoreHandle({
    name: 'test',
    committer,
    upkeep: new Upkeep(committer, () => undefined),
    maxPayloadBytes: 1 << 20,
  });
  return { store, plan, used, clock };
}

function crashOnDemand(engine: Bridge, plan: Plan, used: { afterCrash: number }): Bridge {
  let hasCrashed = false;
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'crashMessage') return 'planned crash';
      if (hasCrashed) used.afterCrash += 1;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === plan.method && plan.times > 0) {
          plan.times -= 1;
          hasCrashed = true;
          throw new WebAssembly.RuntimeError('unreachable');
        }
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

test('a command that crashed the engine once is decided again by a new one', async () => {
  const { store, plan, used } = await crashing();
  const queue = store.queue('mail');
  await queue.enqueue('before');
  plan.times = 1;
  const { id } = await queue.enqueue('again');
  assert.equal(id, 2);
  assert.deepEqual((await queue.counts()).ready, 2);
  assert.deepEqual(used, { engines: 2, afterCrash: 0 });
});

test('a command that crashes twice is rejected, and the others go on', async () => {
  const { store, plan, used } = await crashing();
  const queue = store.queue('mail');
  plan.times = 2;
  const [before, bad, after] = await Promise.allSettled([
    store.kv.put('a', 1),
    queue.enqueue('bad'),
    store.kv.put('b', 2),
  ]);
  assert.deepEqual([before.status, after.status], ['fulfilled', 'fulfilled']);
  const error = await rejects(
    bad.status === 'rejected' ? Promise.reject(bad.reason) : Promise.resolve(),
    'ENGINE_CRASHED',
  );
  assert.match(error.message, /planned crash/);
  assert.deepEqual((await queue.counts()).ready, 0);
  assert.deepEqual(used, { engines: 3, afterCrash: 0 });
});

test('a crash after the journal has the entry loses nothing', async () => {
  const { store, plan } = await crashing();
  const queue = store.queue('mail');
  Object.assign(plan, { method: 'mergeSealed', times: 1 });
  const { id } = await queue.enqueue('kept');
  assert.equal((await queue.get(id))?.payload, 'kept');
  const task = await claimOne(queue);
  held(await task.complete());
});

test('a crash while sealing or merging is tried again, then told', async () => {
  for (const method of ['takeEntry', 'discard'] as const) {
    const { store, plan } = await crashing();
    Object.assign(plan, { method, times: 1 });
    await store.kv.put('a', 1);
    plan.times = 2;
    await rejects(store.kv.put('b', 1), 'ENGINE_CRASHED');
    assert.deepEqual((await store.kv.list()).items.length, 1);
  }
});

test('a transaction that crashes as it commits is not ended on the crashed engine', async () => {
  const { store, plan, used } = await crashing();
  Object.assign(plan, { method: 'txCommit', times: 1 });
  const outcome = await store.transact((tx) => tx.kv.put('a', 1));
  assert.ok(outcome.ok);
  assert.deepEqual(used, { engines: 2, afterCrash: 0 });
});

test('a body that catches a crash does not commit', async () => {
  const { store, plan } = await crashing();
  Object.assign(plan, { method: 'kvPut', times: 2 });
  let runs = 0;
  const outcome = store.transact((tx) => {
    runs += 1;
    try {
      tx.kv.put('a', 1);
    } catch {
      return 'caught';
    }
    return 'done';
  });
  await rejects(outcome, 'ENGINE_CRASHED');
  assert.equal(runs, 2);
  assert.equal(await store.kv.get('a'), null);
});

test('rights survive the engine that knew them', async () => {
  const { store, plan } = await crashing();
  const limited = store.as({ actor: 'a', may: [{ queue: 'mail', rights: ['enqueue'] }] });
  await limited.queue('mail').enqueue(1);
  plan.times = 1;
  await limited.queue('mail').enqueue(2);
  await rejects(limited.queue('mail').claim('w'), 'PERMISSION_DENIED');
  assert.equal((await store.queue('mail').counts()).ready, 2);
});

test('a listener is told of everything once, whatever the engine crashed in', async () => {
  for (const method of ['queueEnqueue', 'mergeSealed', 'discard', 'events'] as const) {
    const { store, plan, used } = await crashing();
    const queue = store.queue('mail');
    const limited = store.as({ actor: 'a', may: [{ queue: 'mail', rights: ['inspect'] }] });
    const readers = [store, limited].map((one) => one.events()[Symbol.asyncIterator]());
    await queue.enqueue('before');
    Object.assign(plan, { method, times: 1 });
    await queue.enqueue('kept');
    await queue.enqueue('after');
    assert.equal(used.engines, 2, method);
    for (const events of readers) {
      for (const id of [1, 2, 3]) assert.equal((await events.next()).value?.id, id, method);
    }
    await store.close();
    for (const events of readers) assert.equal((await events.next()).done, true, method);
    assert.equal(used.afterCrash, 0, method);
  }
});

test('an engine that crashes while it replays ends that loop and nothing else', async () => {
  const { store, plan, used } = await crashing();
  await store.kv.put('a', 1);
  for (const method of ['merge', 'recordEvents', 'events'] as const) {
    const events = store.events({ from: 0 })[Symbol.asyncIterator]();
    Object.assign(plan, { method, times: 1 });
    await rejects(events.next(), 'ENGINE_CRASHED');
    assert.equal((await events.next()).done, true);
  }
  const live = store.events()[Symbol.asyncIterator]();
  await store.kv.put('b', 1);
  assert.equal((await live.next()).value?.key, 'b');
  assert.equal(used.afterCrash, 0);
});

test('what is due soon is not forgotten by a crash after it was stored', async () => {
  const { store, plan, clock } = await crashing();
  plan.method = 'mergeSealed';
  plan.times = 1;
  await store.schedule('soon', { at: clock.now() + 1_000 }, { queue: 'mail', payload: 1 });
  await clock.advance(1_000);
  assert.equal((await store.schedules.get('soon'))?.fired, 1);
});

test('a worker goes on with a new engine after a crash, also after one that was told', async () => {
  const { store, plan, clock } = await crashing();
  const codes: string[] = [];
  const ran: unknown[] = [];
  const worker = store.queue('mail').work(({ payload }) => void ran.push(payload), {
    onError: ({ code }) => codes.push(code),
  });
  await worker.idle();
  for (const [times, told] of [
    [1, []],
    [2, ['ENGINE_CRASHED']],
  ] as const) {
    for (const method of ['queueClaim', 'queueComplete', 'queueNextDue', 'removalOf'] as const) {
      codes.length = 0;
      await store.queue('mail').enqueue(`${method} ${times}`);
      Object.assign(plan, { method, times });
      await clock.advance(60_000);
      assert.equal(ran.at(-1), `${method} ${times}`);
      if (method === 'queueClaim') assert.deepEqual(codes, told);
      assert.deepEqual((await store.queue('mail').list()).items, [], `${method} ${times}`);
    }
  }
  await worker.stop();
});

test('the words of a panic outlive the engine', async () => {
  const module = await node.engine();
  const engine = module.create({ store: 'test' });
  assert.equal(engine.crashMessage, undefined);
  assert.throws(() => engine.txCommit(1), WebAssembly.RuntimeError);
  assert.match(engine.crashMessage ?? '', /^panicked at src\/.+:\na transaction was begun$/);
});
