/** A store inside of a Durable Object: the journal; the example, over evictions and restarts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Project, project } from './project.js';
import { ask, type Miniflare, startWorker } from './worker.js';

const EXAMPLE = fileURLToPath(
  new URL('../../../examples/durable-object/worker.js', import.meta.url),
);

/** Every case runs in an object of its own. */
const SUITE = `
import { DurableObject } from 'cloudflare:workers';
import { open } from 'fencepost';
import { durableObject, serve } from 'fencepost/durable-object';
import { journalConformance } from 'fencepost/testing';

const cases = (ctx) => {
  const all = new Map();
  const test = (name, body) => all.set(name, body);
  journalConformance(() => ({ journal: () => durableObject(ctx) }), { test, shared: true });
  return all;
};

export class Suite extends DurableObject {
  async fetch({ url }) {
    const name = decodeURIComponent(new URL(url).pathname.slice(1));
    if (name === '') return Response.json([...cases(this.ctx).keys()]);
    const body = cases(this.ctx).get(name) ?? this[name];
    try {
      return new Response(String((await body.call(this)) ?? 'passed'));
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  }

  alarm(invocation) {
    return this.rings?.(invocation);
  }

  /** As large as may be, and one byte too large: the next who opens finds everything. */
  async sizes() {
    const maxPayloadBytes = 8 << 20;
    const opened = () => open('sizes', { journal: durableObject(this.ctx), maxPayloadBytes });
    const store = await opened();
    const text = 'x'.repeat((8 << 20) - 2);
    await store.queue('large').enqueue(text);
    const error = await store.queue('large').enqueue(text + 'y').catch((reason) => reason);
    await store.queue('large').enqueue('small');
    await store.close();
    const again = await opened();
    const tasks = await again.queue('large').claim('worker', { max: 10 });
    const { ok } = await again.verify();
    await again.close();
    return [error.code, ...tasks.map(({ payload }) => payload.length), ok].join(' ');
  }

  /** What one handle enqueues wakes the worker of another. */
  async wakes() {
    const [one, other] = await Promise.all(
      [1, 2].map(() => open('wakes', { journal: durableObject(this.ctx) })),
    );
    const handled = new Promise((resolve) => {
      one.queue('mail').work(({ payload, id }) => {
        resolve([payload, id]);
        return new Promise(() => {});
      });
    });
    await other.queue('mail').enqueue('heard');
    const [payload, id] = await handled;
    const { owner = '' } = (await other.queue('mail').get(id)) ?? {};
    await one.close();
    await other.close();
    return [payload, owner.split('-')[0]].join(' ');
  }

  /** For what the alarm is set: the first of everything that is due. */
  async alarms() {
    const { storage } = this.ctx;
    const store = await open('alarms', { journal: durableObject(this.ctx) });
    const queue = store.queue('mail');
    const service = serve(this.ctx, store, { mail: () => {} });
    const told = [await service.armed()];
    await queue.enqueue('later', { delay: 60_000 });
    const due = await queue.nextDue();
    told.push((await service.armed()) === due, (await storage.getAlarm()) === due);
    await queue.pause();
    told.push(await service.armed(), await storage.getAlarm());
    await store.schedule('tick', { every: 30_000 }, { queue: 'mail', payload: 1 });
    told.push((await service.armed()) === (await store.schedules.get('tick')).next);
    await queue.resume();
    service.stop();
    await storage.deleteAlarm();
    await store.close();
    return told.join(' ');
  }

  /** One alarm for two: what the object set itself, in either way, and what the store has due. */
  async shares() {
    const store = await open('shares', { journal: durableObject(this.ctx) });
    const told = [];
    const ended = new Promise((resolve) => {
      this.rings = async (invocation) => {
        await service.alarm(invocation);
        if (told.length === 4) resolve();
      };
    });
    const alarm = () => told.push('own');
    const mail = ({ payload }) => void told.push(payload);
    const service = serve(this.ctx, store, { mail }, { alarm });
    await service.setAlarm(Date.now() + 300);
    await store.queue('mail').enqueue('before');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await this.ctx.storage.setAlarm(Date.now() + 300);
    await store.queue('mail').enqueue('after', { delay: 600 });
    await ended;
    service.stop();
    await store.close();
    return told.join(' ');
  }

  /** Who looks after everything of the object was deleted. */
  async cleared() {
    const opened = () => open('cleared', { journal: durableObject(this.ctx) });
    const store = await opened();
    await store.queue('mail').enqueue('kept');
    await this.ctx.storage.deleteAll();
    const codeOf = (work) => work.then(() => 'done', ({ code }) => code);
    const told = [await codeOf(store.queue('mail').enqueue('lost')), await codeOf(store.sync())];
    await store.close();
    const again = await opened();
    told.push((await again.queue('mail').enqueue('anew')).id);
    await again.close();
    return told.join(' ');
  }

  /** A table of somebody else under a name of the journal's, and a later format. */
  async foreign() {
    this.ctx.storage.sql.exec('CREATE TABLE fencepost_head (one INTEGER, reader INTEGER)');
    const codeOf = () => open('x', { journal: durableObject(this.ctx) }).then(
      () => 'opened', ({ code }) => code);
    const first = await codeOf();
    this.ctx.storage.sql.exec('DROP TABLE fencepost_head');
    await (await open('x', { journal: durableObject(this.ctx) })).close();
    this.ctx.storage.sql.exec('UPDATE fencepost_head SET reader = 2');
    const second = await codeOf();
    this.ctx.storage.sql.exec('UPDATE fencepost_head SET reader = 1');
    this.ctx.storage.sql.exec('DELETE FROM fencepost_journal');
    return [first, second, await codeOf()].join(' ');
  }
}

export default {
  fetch(request, env) {
    return env.OBJECT.getByName(request.url).fetch(request);
  },
};
`;

describe('the journal on the storage of an object', () => {
  let worker: Miniflare;
  before(async () => {
    const { path } = project({ 'source.js': SUITE });
    worker = await startWorker(path, 'source.js', objects('Suite'));
  });
  after(() => worker.dispose());

  test('it passes the suite that every journal has to pass', async (t) => {
    const names = JSON.parse(await ask(worker, '/')) as string[];
    assert.ok(names.length > 20, `${names.length} cases`);
    for (const name of names) {
      await t.test(name, async () => {
        assert.equal(await ask(worker, `/${encodeURIComponent(name)}`), 'passed');
      });
    }
  });

  test('a payload larger than a value of the storage is cut, one too large refused', async () => {
    const expected = `PAYLOAD_TOO_LARGE ${(8 << 20) - 2} 5 true`;
    assert.equal(await ask(worker, '/sizes'), expected);
  });

  test('an enqueue on one handle wakes the worker of another, which is no tab', async () => {
    assert.equal(await ask(worker, '/wakes'), 'heard worker');
  });

  test('the alarm is set for what is due first, in the future, and not for a pause', async () => {
    // Joined, null is nothing.
    assert.equal(await ask(worker, '/alarms'), ' true true   true');
  });

  test("an alarm of the object's own rings beside the store's", async () => {
    assert.equal(await ask(worker, '/shares'), 'before own own after');
  });

  test('storage that was cleared under a store is told as such, and opens anew', async () => {
    assert.match(await ask(worker, '/cleared'), /^LOG_REPLACED LOG_REPLACED 1$/);
  });

  test('a foreign table, a later format and missing entries are told apart', async () => {
    const told = await ask(worker, '/foreign');
    assert.equal(told, 'JOURNAL_UNAVAILABLE FORMAT_TOO_NEW JOURNAL_CORRUPT');
  });
});

/** The example, and what an operator or the weather may do to it. */
const EVICTABLE = `
import example, { Outbox } from './worker.js';
export default example;
export class Weather extends Outbox {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/evict') this.ctx.abort('evicted');
    if (pathname === '/lose-alarm') await this.ctx.storage.deleteAlarm();
    else return super.fetch(request);
    return new Response('done');
  }
}
`;

interface Delivery {
  body: string;
  id: string | null;
  token: number;
}

describe('the example', () => {
  let made: Project;
  let worker: Miniflare;
  const deliveries: Delivery[] = [];
  let status = 200;
  let delivered = () => {};

  /** The receiver: everything that the worker fetches arrives here. */
  async function receive(request: Request): Promise<Response> {
    const body = await request.text();
    const token = Number(request.headers.get('fencing-token'));
    deliveries.push({ body, id: request.headers.get('idempotency-key'), token });
    delivered();
    return new Response(null, { status });
  }

  /** Resolves with the next delivery. */
  function next(): Promise<Delivery> {
    const count = deliveries.length;
    return new Promise((resolve) => {
      delivered = () => resolve(deliveries[count] as Delivery);
    });
  }

  async function start(): Promise<void> {
    const persisted = { ...objects('Weather'), durableObjectsPersist: join(made.path, 'objects') };
    const options = { ...persisted, outboundService: receive };
    worker = await startWorker(made.path, 'source.js', options);
  }

  function post(delivery: Record<string, unknown>): Promise<string> {
    const body = JSON.stringify({ to: 'http://receiver.test/', ...delivery });
    return ask(worker, '/deliveries', { method: 'POST', body });
  }

  before(async () => {
    const example = readFileSync(EXAMPLE, 'utf8');
    made = project({ 'worker.js': example, 'source.js': EVICTABLE });
    await start();
  });
  after(() => worker.dispose());

  test('the alarm delivers what came in, and after a failure with a larger token', async () => {
    status = 503;
    const first = next();
    assert.equal(await post({ body: 'hello' }), '{"id":1,"created":true}');
    assert.deepEqual((await first).body, 'hello');
    status = 200;
    const second = await next();
    assert.equal(second.id, '1');
    assert.ok(second.token > (await first).token);
  });

  test('an object taken out of memory is brought back by its alarm', async () => {
    const arrived = next();
    await post({ body: 'after an eviction', delay: 500 });
    await assert.rejects(ask(worker, '/evict'));
    assert.equal((await arrived).body, 'after an eviction');
  });

  test('an alarm that was lost with the object is made up for by the next request', async () => {
    await post({ body: 'stranded', delay: 60 });
    await ask(worker, '/lose-alarm');
    await assert.rejects(ask(worker, '/evict'));
    const arrived = next();
    await ask(worker, '/deliveries');
    assert.equal((await arrived).body, 'stranded');
  });

  test('a restart finds what was kept, and the next request delivers it', async () => {
    await post({ body: 'over a restart', delay: 300 });
    await worker.dispose();
    const arrived = next();
    await start();
    await ask(worker, '/deliveries');
    assert.equal((await arrived).body, 'over a restart');
  });
});

function objects(className: string): Record<string, unknown> {
  const object = { className, useSQLite: true };
  return { durableObjects: { OBJECT: object, OUTBOX: object } };
}
