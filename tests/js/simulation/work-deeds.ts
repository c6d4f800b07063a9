/** What goes on beside the calls of a client: workers, and whoever follows the events. */
import { NonRetriable, RetryAfter, type StoreEvent, type Task } from 'fencepost';
import type { Chance } from './chance.js';
import type { Client, Deed } from './client.js';
import { WORKER } from './places.js';

export const WORK_DEEDS: readonly Deed[] = [
  { name: 'work', weight: 4, run: work },
  { name: 'follow', weight: 3, run: follow },
];

const HANDLER_MS = [0, 5, 60, 500];
const SPAN_MS = [10, 300, 20_000];

/** Works for a while. Handlers return, fail in every way, or settle by themselves. */
function work(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  const handlers = chance.stream(1);
  const handle = async (task: Task): Promise<unknown> => {
    const { ledger, life } = client;
    // What it does with the claim is its own; that it has it is stored.
    for (const ending of ['complete', 'fail', 'release'] as const) {
      ledger.mayEnd(ending, task.id, task.token);
    }
    const isStored = client.witness.mayHaveGranted(task.token, `task ${task.id}`);
    client.require(isStored, () => `a worker runs ${task.id}, which it was not granted`);
    await new Promise<void>((resolve) => {
      life.later(handlers.oneOf(HANDLER_MS), resolve);
    });
    if (handlers.happens(10)) throw new NonRetriable('never');
    if (handlers.happens(10)) throw new RetryAfter(handlers.oneOf([0, 50]));
    if (handlers.happens(10)) throw new Error('not now');
    if (handlers.happens(10)) await task.complete('by itself').catch(() => undefined);
    return task.id;
  };
  const worker = queue.work(handle, {
    owner: `${client.name}${WORKER}`,
    concurrency: chance.between(1, 3),
    lease: chance.oneOf([20, 400]),
    ...(chance.happens(30) && { maxRun: 100 }),
  });
  client.life.later(chance.oneOf(SPAN_MS), () => {
    client.ask({
      what: `stop working on ${queue.name}`,
      call: () => worker.stop({ drain: chance.oneOf([0, 100]) }),
    });
  });
}

/** Events come in order, and nothing is left out without saying so. */
function follow(client: Client, chance: Chance): void {
  const control = new AbortController();
  const from = chance.happens(50) ? client.store.version : 0;
  client.life.later(chance.oneOf(SPAN_MS), () => control.abort());
  client.ask({
    what: `follow the events from ${from}`,
    call: async () => {
      const told: StoreEvent[] = [];
      for await (const event of client.store.events({ from, signal: control.signal })) {
        const { version } = told.at(-1) ?? { version: from };
        client.require(event.version >= version, () => {
          return `${JSON.stringify(event)} comes after version ${version}`;
        });
        told.push(event);
      }
      return told;
    },
    judge: (told, since) => {
      if (since !== undefined) requireWhole(client, from, told);
      return { applied: false };
    },
  });
}

/** Every task that was made after `from`, up to the last event, was told once. */
function requireWhole(client: Client, from: number, told: readonly StoreEvent[]): void {
  if (told.some(({ type }) => type === 'gap')) return;
  const made = told.filter(({ type }) => type === 'enqueued').map(({ id }) => id);
  const upTo = told.at(-1)?.version ?? from;
  const sights = client.witness.since(0);
  const first = sights.findLast(({ version }) => version <= from);
  const last = sights.findLast(({ version }) => version <= upTo);
  const missed = [...(last?.tasks.keys() ?? [])].filter(
    (id) => first?.tasks.has(id) === false && !made.includes(id),
  );
  client.require(missed.length === 0, () => `events leave out that task ${missed[0]} was made`);
  client.require(new Set(made).size === made.length, () => 'a task is told twice to be made');
}
