/** What clients do with queues. */
import { check, put, type Task, type Write } from 'fencepost';
import type { Chance } from './chance.js';
import { type Client, type Deed, GivenUp, type Judgement, type Since } from './client.js';
import { MARK_PREFIX, QUEUE_NAMES, SHARED_KEYS } from './places.js';
import type { Sight } from './sight.js';

const OWNERS = ['ann', 'bob'];
const KEYS = ['k1', 'k2', 'k3'];
const NOT_APPLIED: Judgement = { applied: false };
const APPLIED: Judgement = { applied: true };

export const QUEUE_DEEDS: readonly Deed[] = [
  { name: 'enqueue', weight: 30, run: enqueue },
  { name: 'enqueueMany', weight: 4, run: enqueueMany },
  { name: 'claim', weight: 40, run: claim },
  { name: 'complete', weight: 20, run: complete },
  { name: 'completeMany', weight: 3, run: completeMany },
  { name: 'fail', weight: 10, run: fail },
  { name: 'heartbeat', weight: 10, run: heartbeat },
  { name: 'release', weight: 5, run: release },
  { name: 'cancel', weight: 5, run: cancel },
  { name: 'redrive', weight: 4, run: redrive },
  { name: 'purge', weight: 2, run: purge },
  { name: 'sweep', weight: 4, run: sweep },
  { name: 'pause', weight: 2, run: pause },
  { name: 'adopt', weight: 4, run: adopt },
  { name: 'result', weight: 4, run: result },
  { name: 'look', weight: 10, run: look },
];

/** A write that only this command makes. */
function marking(mark: number, part = ''): Write {
  return put(`${MARK_PREFIX}${mark}${part}`, mark);
}

function enqueue(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  const options = {
    priority: chance.between(-1, 1),
    ...(chance.happens(30) && { key: chance.oneOf(KEYS) }),
    ...(chance.happens(30) && { delay: chance.oneOf([1, 30, 300, 3_600_000]) }),
    ...(chance.happens(20) && { expiresIn: chance.oneOf([10, 200, 5_000]) }),
  };
  const extra = chance.happens(20) ? [anyCheck(client, chance)] : [];
  client.ask({
    what: `enqueue ${queue.name} ${JSON.stringify(options)}`,
    parts: ['w'],
    call: (mark) =>
      queue.enqueue(`${mark}`, { ...options, writes: [marking(mark, '.w'), ...extra] }),
    judge: ({ id, created }, since, mark) => {
      if (!created) return NOT_APPLIED;
      client.require(since === undefined || wasThere(client, since, id, `${mark}`), () => {
        return `task ${id} was acknowledged and is not that of #${mark}`;
      });
      return APPLIED;
    },
  });
}

/** A guard on a shared value that held lately, or not. */
function anyCheck(client: Client, chance: Chance): Write {
  const key = chance.oneOf(SHARED_KEYS);
  const version = client.witness.now.values.get(key)?.version ?? null;
  return check(key, chance.happens(80) ? version : 1);
}

function wasThere({ witness }: Client, since: Since, id: number, mark: string): boolean {
  return witness.since(since.slot).some(({ tasks }) => tasks.get(id)?.mark === mark);
}

function enqueueMany(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  client.ask({
    what: `enqueue three into ${queue.name}`,
    parts: ['1', '2'],
    call: (mark) =>
      queue.enqueueMany(['', '.1', '.2'].map((part) => ({ payload: `${mark}${part}` }))),
  });
}

function claim(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  const owner = `${client.name}-${chance.oneOf(OWNERS)}`;
  const options = {
    max: chance.between(1, 3),
    ...(chance.happens(20) && { lease: chance.oneOf([0, 5, 5_000]) }),
  };
  client.ask({
    what: `claim ${queue.name} as ${owner} ${JSON.stringify(options)}`,
    call: () => queue.claim(owner, options),
    judge: (tasks, since) => {
      for (const task of tasks) {
        const isStored = client.witness.mayHaveGranted(task.token, `task ${task.id}`);
        client.require(since === undefined || isStored, () => {
          return `the claim of task ${task.id} by token ${task.token} is not stored`;
        });
        client.tasks.push(task);
      }
      if (tasks.length === 0 && since !== undefined) requireHunger(client, since, queue.name);
      return NOT_APPLIED;
    },
  });
}

/** Whoever got nothing asked at a moment at which there was nothing. */
function requireHunger(client: Client, since: Since, queue: string): void {
  if (client.ledger.mayHavePaused(queue)) return;
  const sights = client.witness.since(since.slot);
  // Inside of an entry whatever stood on both sides of it stood all the time.
  const isAlwaysFed = sights.every((sight, at) => hasReady(sight, sights[at + 1], queue));
  client.require(!isAlwaysFed, () => `a claim on ${queue} got nothing, while tasks were ready`);
}

function hasReady({ tasks, time }: Sight, next: Sight | undefined, queue: string): boolean {
  return [...tasks.values()].some((task) => {
    if (task.queue !== queue || task.expiresAt !== undefined) return false;
    if (next !== undefined && next.tasks.get(task.id)?.updatedAt !== task.updatedAt) return false;
    if (task.state === 'ready') return true;
    const isLapsed = task.state === 'inflight' && (task.deadline ?? time) < time;
    return isLapsed && task.attempt < task.maxAttempts;
  });
}

function complete(client: Client, chance: Chance): void {
  const task = client.anyTask(chance);
  if (task === undefined) return;
  const follows = chance.happens(50) ? [chance.oneOf(QUEUE_NAMES)] : [];
  client.ledger.mayEnd('complete', task.id, task.token);
  client.ask({
    what: `complete ${named(task)} then ${follows.join()}`,
    parts: follows.map(() => 'f'),
    call: (mark) =>
      task.complete(mark, {
        followUps: follows.map((queue) => ({ queue, payload: `${mark}.f` })),
        writes: [marking(mark)],
      }),
    judge: (answer, since) => {
      if (!answer.ok) return endOf(client, task, answer);
      if (since !== undefined) {
        client.ledger.happenedOnce(`completion of task ${task.id}`);
        requireHeld(client, task, answer.version);
      }
      return endOf(client, task, answer);
    },
  });
}

function completeMany(client: Client, chance: Chance): void {
  const tasks = client.tasks.splice(0, chance.between(1, 3));
  const queue = client.queue(tasks[0]?.queue ?? 'mail');
  for (const { id, token } of tasks) client.ledger.mayEnd('complete', id, token);
  client.ask({
    what: `complete ${tasks.map(named).join()}`,
    call: () => queue.completeMany(tasks),
    judge: (count) => {
      client.require(count <= tasks.length, () => `${count} of ${tasks.length} were completed`);
      return NOT_APPLIED;
    },
  });
}

function fail(client: Client, chance: Chance): void {
  const task = client.anyTask(chance);
  if (task === undefined) return;
  const options = {
    final: chance.happens(20),
    ...(chance.happens(30) && { delay: chance.oneOf([0, 20, 2_000]) }),
  };
  client.ledger.mayEnd('fail', task.id, task.token);
  client.ask({
    what: `fail ${named(task)} ${JSON.stringify(options)}`,
    parts: [],
    call: (mark) => task.fail(`failure ${mark}`, { ...options, writes: [marking(mark)] }),
    judge: (answer, since) => {
      if (answer.ok && since !== undefined) requireHeld(client, task, answer.version);
      return endOf(client, task, answer);
    },
  });
}

function heartbeat(client: Client, chance: Chance): void {
  const task = client.anyTask(chance);
  if (task === undefined) return;
  const options = chance.happens(50) ? { extend: chance.oneOf([1, 50, 5_000]) } : { progress: 1 };
  client.ask({
    what: `heartbeat ${named(task)} ${JSON.stringify(options)}`,
    call: () => task.heartbeat(options),
    judge: (answer, since) => {
      if (answer.ok && since !== undefined) requireHeld(client, task, answer.version);
      return NOT_APPLIED;
    },
  });
}

function release(client: Client, chance: Chance): void {
  const task = client.anyTask(chance);
  if (task === undefined) return;
  client.ledger.mayEnd('release', task.id, task.token);
  client.ask({
    what: `release ${named(task)}`,
    call: () => task.release(),
    judge: (answer, since) => {
      if (answer.ok && since !== undefined) requireHeld(client, task, answer.version);
      endOf(client, task, answer);
      return NOT_APPLIED;
    },
  });
}

/** What was answered to a holder was decided while it held the claim, and nobody else did. */
function requireHeld(client: Client, task: Task, version: number): void {
  const sights = client.witness.around(version);
  const row = sights?.before.tasks.get(task.id);
  client.require(row?.state === 'inflight' && row.token === task.token, () => {
    return `${named(task)} was told that it holds, but ${JSON.stringify(row)} stood before it`;
  });
}

/** Settled or refused: the client has it no more. */
function endOf(client: Client, task: Task, { ok }: { ok: boolean }): Judgement {
  client.drop(task);
  return { applied: ok };
}

function named({ id, token }: Task): string {
  return `${id} by ${token}`;
}

function cancel(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  const id = client.anyId(chance);
  client.ledger.mayEnd('cancel', id);
  client.ask({ what: `cancel ${queue.name} ${id}`, call: () => queue.cancel(id, 'no more') });
}

function redrive(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  const options = chance.happens(50) ? { limit: 1 } : {};
  client.ledger.mayRedrive(queue.name);
  client.ask({ what: `redrive ${queue.name}`, call: () => queue.redrive(options) });
}

function purge(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  client.ledger.mayPurge(queue.name);
  client.ask({ what: `purge ${queue.name}`, call: () => queue.purge() });
}

function sweep(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  client.ask({ what: `sweep ${queue.name}`, call: () => queue.sweep() });
}

function pause(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  client.ledger.mayPause(queue.name);
  client.ask({ what: `pause ${queue.name}`, call: () => queue.pause() });
  client.life.later(chance.between(1, 300), () => {
    client.ask({ what: `resume ${queue.name}`, call: () => queue.resume() });
  });
}

/** Takes over a claim of anybody, as after a restart. */
function adopt(client: Client, chance: Chance): void {
  const claims = [...client.witness.now.tasks.values()].filter(({ token }) => token !== undefined);
  if (claims.length === 0) return;
  const { id, queue, token = 0 } = chance.oneOf(claims);
  client.ask({
    what: `adopt ${queue} ${id} by ${token}`,
    call: () => client.queue(queue).adopt(id, token),
    judge: (task, since) => {
      if (task !== null && since !== undefined) client.tasks.push(task);
      return NOT_APPLIED;
    },
  });
}

function result(client: Client, chance: Chance): void {
  // What was made without a handle has no retention.
  const mail = [...client.witness.now.tasks.values()].filter(
    ({ queue, mark }) => queue === 'mail' && !/[fst]/.test(mark),
  );
  if (mail.length === 0) return;
  const { id } = chance.oneOf(mail);
  const control = new AbortController();
  client.life.later(chance.oneOf([0, 100, 10_000]), () => control.abort(new GivenUp()));
  client.ask({
    what: `result of ${id}`,
    // In another log the id may be that of another task.
    mayFail: client.witness.generation > 0 ? ['INVALID_ARGUMENT'] : [],
    call: () => client.queue('mail').result(id, { signal: control.signal }),
  });
}

/** A read shows what stood at some moment between the question and the answer. */
function look(client: Client, chance: Chance): void {
  const id = client.anyId(chance);
  const queue = client.queue(client.witness.now.tasks.get(id)?.queue ?? 'mail');
  client.ask({
    what: `look at ${queue.name} ${id}`,
    call: () => queue.get(id),
    judge: (record, since) => {
      if (since === undefined) return NOT_APPLIED;
      const isTrue = client.witness.since(since.slot).some((sight) => {
        const row = sight.tasks.get(id);
        return row === undefined || record === null
          ? isOver(row) && record === null
          : row.updatedAt === record.updatedAt && row.token === record.token;
      });
      client.require(isTrue, () => `task ${id} never looked like ${JSON.stringify(record)}`);
      return NOT_APPLIED;
    },
  });
}

/** A row past its retention may be hidden before it is removed. */
function isOver(row: { state: string } | undefined): boolean {
  return row === undefined || row.state === 'done' || row.state === 'dead';
}
