/**
 * An outbox at the edge: requests come in over HTTP, are kept in a queue on the storage of a
 * Durable Object, and are delivered when the object's alarm rings, again and again until it worked.
 *
 * ```text
 *   POST /deliveries ──> fetch(): enqueue ──> serve: the alarm is set
 *                                                  │ rings
 *   receiver <── deliver() <── alarm(): work off <─┘
 * ```
 */
import { DurableObject } from 'cloudflare:workers';
import { NonRetriable, open, RetryAfter } from 'fencepost';
import { durableObject, serve } from 'fencepost/durable-object';

const QUEUE = { maxAttempts: 10, backoff: { base: 500, max: 60_000 } };

export class Outbox extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    // What fails in here takes the object out of memory, and the next who asks tries again.
    ctx.blockConcurrencyWhile(async () => {
      const store = await open('outbox', { journal: durableObject(ctx) });
      this.queue = store.queue('deliveries', QUEUE);
      const served = { queue: this.queue, handler: deliver, options: { concurrency: 4 } };
      this.service = serve(ctx, store, [served]);
    });
  }

  fetch(request) {
    return answer(request, this.queue);
  }

  alarm(invocation) {
    return this.service.alarm(invocation);
  }
}

async function answer(request, queue) {
  const { method, url, headers } = request;
  if (new URL(url).pathname !== '/deliveries') return new Response(null, { status: 404 });
  if (method === 'GET') return Response.json(await queue.counts());
  if (method !== 'POST') return new Response(null, { status: 405 });
  const { to, body, delay = 0 } = await request.json();
  // A client that asks twice under one key gets the same delivery.
  const key = headers.get('idempotency-key') ?? crypto.randomUUID();
  const { id, created } = await queue.enqueue({ to, body }, { key, delay });
  return Response.json({ id, created }, { status: 202 });
}

async function deliver(task, { signal }) {
  const { to, body } = task.payload;
  // The receiver may see a delivery twice, and one of an owner that lost it: it can tell by these.
  const headers = { 'idempotency-key': String(task.id), 'fencing-token': String(task.token) };
  const { status } = await fetch(to, { method: 'POST', body, headers, signal });
  if (status === 429) throw new RetryAfter(5_000);
  if (status >= 400 && status < 500) throw new NonRetriable(`refused with ${status}`);
  if (status >= 500) throw new Error(`failed with ${status}`);
}

export default {
  fetch(request, env) {
    return env.OUTBOX.getByName('main').fetch(request);
  },
};
