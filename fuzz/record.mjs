/**
 * Records the calls that engines get while the package does everything it can, once: a file of
 * `corpus/requests/` each. `npm run fuzz -- --record` runs it.
 *
 * The format is that of `requests` in `targets.rs`. What goes over the border is seen at the
 * border: at the functions that the WebAssembly module exports.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('corpus/requests', import.meta.url));
/** Asked all the time, and it changes nothing. */
const HEAD = 62;
const TEN_YEARS_MS = 315_360_000_000;
/** Each engine by where it lies in the memory: what it was called with, and where. */
const engines = new Map();

watchBorder();
const { memory, open, put, del, check } = await import('fencepost');
const { virtualClock } = await import('fencepost/testing');

await record('queues', queues);
await record('leases', leases);
await record('values', values);
await record('schedules', schedules);
await record('callers', callers);
await record('replicas', replicas);

function watchBorder() {
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(Instance, words) {
      const { exports } = new Instance(...words);
      return { exports: { ...exports, ...watched(exports) } };
    },
  });
}

function watched(exports) {
  const at = new Map();
  return {
    core_scratchAt(engine, bytes) {
      const start = exports.core_scratchAt(engine, bytes) >>> 0;
      at.set(engine, start);
      return start;
    },
    core_call(engine, operation, size, now, caller) {
      const request = Buffer.from(exports.memory.buffer, at.get(engine) ?? 0, size);
      note(engine, { operation, caller, now, request: Buffer.from(request) });
      return exports.core_call(engine, operation, size, now, caller);
    },
  };
}

/** What has no request of its own comes with what is left of the one before. */
function note(engine, call) {
  if (call.operation === HEAD) return;
  if (!engines.has(engine)) engines.set(engine, { calls: [], last: Buffer.alloc(0) });
  const known = engines.get(engine);
  const isLeft = call.request.length > 0 && known.last.equals(call.request);
  known.calls.push(isLeft ? { ...call, request: Buffer.alloc(0) } : call);
  known.last = call.request;
}

/** Runs a store through something, and writes down what its engine was called with. */
async function record(name, body) {
  engines.clear();
  const clock = virtualClock();
  const journal = memory();
  const options = { clock, journal, seed: 1n };
  const store = await open('fuzz', options);
  await body({ store, clock, journal, options });
  await store.close();
  const all = [...engines.values()].map(({ calls }) => calls);
  mkdirSync(FOLDER, { recursive: true });
  rmSync(join(FOLDER, name), { force: true });
  const longest = all.reduce((one, other) => (other.length > one.length ? other : one));
  writeFileSync(join(FOLDER, name), packed(longest));
}

function packed(calls) {
  const first = calls.find(({ now }) => now > 0)?.now ?? 0;
  const head = Buffer.alloc(8);
  head.writeDoubleLE(first);
  let clock = first;
  const parts = calls.map(({ operation, caller, now, request }) => {
    const wait = Math.min(0xffff, Math.max(0, now - clock));
    clock += wait;
    const call = Buffer.alloc(6);
    call.writeUInt8(operation, 0);
    call.writeUInt8(caller, 1);
    call.writeUInt16LE(wait, 2);
    call.writeUInt16LE(request.length, 4);
    return Buffer.concat([call, request]);
  });
  return Buffer.concat([head, ...parts]);
}

async function queues({ store, clock }) {
  const queue = store.queue('mail', {
    resultRetention: 5_000,
    keyRetention: 3_000,
    maxAttempts: 2,
  });
  await queue.enqueue({ to: 'a' }, { key: 'a', priority: 5 });
  await queue.enqueue({ to: 'a' }, { key: 'a' });
  await queue.enqueueMany([
    { payload: 1, options: { delay: 50 } },
    { payload: 'é🦊', options: { runAt: clock.now() + TEN_YEARS_MS, expiresIn: 1_000 } },
    { payload: null },
  ]);
  const [one, two] = await queue.claim('w', { max: 2, lease: 1_000 });
  await one.heartbeat({ extend: 2_000, progress: { half: true } });
  await one.complete(
    { ok: 1 },
    { followUps: [{ queue: 'next', payload: 2 }], writes: [put('k', 1)] },
  );
  await two.fail(new Error('again'));
  await clock.advance(60_000);
  for (const task of await queue.claim('v', { max: 9, lease: 10 })) await task.release();
  await queue.claim('v', { max: 9, lease: 10 });
  await clock.advance(60_000);
  await queue.claim('v');
  await queue.sweep();
  await Promise.all([
    queue.counts(),
    queue.list({ state: 'dead' }),
    queue.explain(3),
    queue.get(1),
  ]);
  await queue.redrive();
  const [last] = await queue.claim('u');
  await last?.fail('over', { final: true });
  await queue.pause();
  await queue.cancel(4, 'enough');
  await queue.resume();
  await queue.purge();
  await queue.completeMany([{ id: 5, token: 1 }]);
  await store.outbox('x').enqueue('out');
  await store.queues();
  await store.verify();
}

async function leases({ store, clock }) {
  const lease = store.lease('leader');
  const granted = await lease.acquire('a', { ttl: 1_000, meta: { at: 1 } });
  await lease.acquire('b', { ttl: 1_000 });
  await granted.lease.renew({ ttl: 500 });
  await granted.lease.guardedCommit([put('x', 1), check('y', null)]);
  await lease.status();
  await clock.advance(2_000);
  const other = await lease.acquire('b', { ttl: 0 });
  await granted.lease.guardedCommit([put('x', 2)]);
  await other.lease?.release();
  await store.leases.list();
  await clock.advance(90_000_000);
}

async function values({ store }) {
  await store.kv.put('a', { n: 1 });
  await store.kv.put('__proto__', '');
  await store.kv.delete('a');
  await store.transact((tx) => {
    tx.check('a', null);
    tx.kv.put('b', tx.kv.get('__proto__') ?? null);
    tx.kv.list({ prefix: 'b' });
    tx.queue('mail').enqueue(1, { key: 'k' });
  });
  await store.transact((tx) => tx.check('b', 1)).catch(() => undefined);
  await store
    .transact(() => {
      throw new Error('given up');
    })
    .catch(() => undefined);
  await store.queue('mail').enqueue(2, { writes: [del('b'), put('c', 1)] });
  await store.kv.list({ limit: 1 });
  await store.snapshot();
}

async function schedules({ store, clock }) {
  const job = { queue: 'mail', payload: 1 };
  await store.schedule('tick', { every: 1_000 }, { ...job, catchUp: 'all' });
  await store.schedule('noon', { cron: '0 12 * * *', timeZone: 'Europe/Berlin' }, job);
  await store.schedule('once', { at: clock.now() + 500 }, { ...job, expiresIn: 100 });
  await clock.advance(100_000);
  await store.schedules.list();
  await store.unschedule('tick');
  await store.repairClock();
}

async function callers({ store }) {
  const caller = store.as({
    actor: 'ada',
    may: [
      { queue: 'mail*', rights: ['enqueue', 'claim', 'settle', 'inspect', 'manage'] },
      { kv: 'a', rights: ['read', 'write'] },
      { lease: 'l', rights: ['acquire'] },
    ],
  });
  const queue = caller.queue('mailbox');
  await queue.enqueue(1);
  const [task] = await queue.claim('w');
  await task.complete();
  await caller
    .queue('other')
    .enqueue(1)
    .catch(() => undefined);
  await caller.kv.put('a', 1);
  await caller.kv.get('b').catch(() => null);
  await caller.lease('l').acquire('w', { ttl: 10 });
  await caller.close();
}

/** Two stores on one journal: each merges what the other wrote. */
async function replicas({ store, options, clock }) {
  const other = await open('fuzz', options);
  const heard = (async () => {
    for await (const event of store.events()) if (event.type === 'lease-released') break;
  })();
  await other.queue('mail').enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const [task] = await store.queue('mail').claim('w', { lease: 100 });
  await other.queue('mail').claim('v', { lease: 100 });
  await clock.advance(200);
  await other.queue('mail').claim('v');
  await task.complete();
  const granted = await other.lease('l').acquire('v', { ttl: 1_000 });
  await granted.lease.release();
  await store.kv.get('k');
  await heard.catch(() => undefined);
  await other.close();
}
