/** What clients do with leases, values, transactions, and the store as a whole. */
import { type Lease, put } from 'fencepost';
import type { Chance } from './chance.js';
import type { Client, Deed, Judgement } from './client.js';
import { COUNTER, LEASE_NAMES, LOCK_LEASE, LOCK_NAME, MARK_PREFIX, SHARED_KEYS } from './places.js';

const NOT_APPLIED: Judgement = { applied: false };
const TTLS = [1, 30, 400];

export const STORE_DEEDS: readonly Deed[] = [
  { name: 'acquire', weight: 10, run: acquire },
  { name: 'renew', weight: 5, run: renew },
  { name: 'release lease', weight: 4, run: release },
  { name: 'guarded commit', weight: 8, run: guardedCommit },
  { name: 'lock', weight: 4, run: lock },
  { name: 'effect', weight: 4, run: effect },
  { name: 'transact', weight: 14, run: transact },
  { name: 'put', weight: 8, run: putShared },
  { name: 'get', weight: 8, run: getShared },
  { name: 'sync', weight: 4, run: sync },
  { name: 'verify', weight: 1, run: verify },
  { name: 'list', weight: 3, run: list },
  { name: 'repairClock', weight: 1, run: repairClock },
];

function acquire(client: Client, chance: Chance): void {
  const name = chance.oneOf(LEASE_NAMES);
  const wait = chance.happens(40) ? chance.between(1, 500) : 0;
  const ttl = chance.oneOf(TTLS);
  client.ask({
    what: `acquire ${name} for ${ttl} ms, waiting ${wait} ms`,
    call: () => client.store.lease(name).acquire(client.name, { ttl, wait }),
    judge: (answer, since) => {
      if (!answer.ok) return NOT_APPLIED;
      requireGranted(client, answer.lease.token, `lease ${name}`, since !== undefined);
      client.leases.push(answer.lease);
      return NOT_APPLIED;
    },
  });
}

function requireGranted(client: Client, token: number, of: string, isCurrentLog: boolean): void {
  const isStored = client.witness.mayHaveGranted(token, of);
  client.require(!isCurrentLog || isStored, () => `${of} was not granted by ${token}`);
}

function renew(client: Client, chance: Chance): void {
  const lease = client.anyLease(chance);
  if (lease === undefined) return;
  const ttl = chance.oneOf(TTLS);
  client.ask({
    what: `renew ${named(lease)} for ${ttl} ms`,
    call: () => lease.renew({ ttl }),
    judge: ({ ok }) => {
      if (!ok) drop(client, lease);
      return NOT_APPLIED;
    },
  });
}

function release(client: Client, chance: Chance): void {
  const lease = client.anyLease(chance);
  if (lease === undefined) return;
  drop(client, lease);
  client.ask({ what: `release ${named(lease)}`, call: () => lease.release() });
}

function guardedCommit(client: Client, chance: Chance): void {
  const lease = client.anyLease(chance);
  if (lease === undefined) return;
  client.ask({
    what: `guarded commit by ${named(lease)}`,
    parts: ['2'],
    call: (mark) => {
      const keys = [`${MARK_PREFIX}${mark}`, `${MARK_PREFIX}${mark}.2`];
      return lease.guardedCommit(keys.map((key) => put(key, mark)));
    },
    judge: (answer, since) => {
      if (!answer.ok) {
        drop(client, lease);
        return NOT_APPLIED;
      }
      const { before, after } = client.witness.around(answer.version) ?? {};
      const row = before?.leases.get(lease.name);
      // It may have been renewed in the same entry, however late; and what was released in it
      // does not show that any more.
      const behind = after?.leases.get(lease.name);
      const isReleased = behind !== undefined && behind.owner === undefined;
      const until = isReleased ? Infinity : Math.max(row?.until ?? 0, behind?.until ?? 0);
      const isHeld = row?.token === lease.token && until > (before?.time ?? 0);
      client.require(since === undefined || isHeld, () => {
        return `a commit guarded by ${named(lease)} holds, but ${JSON.stringify(row)} stood`;
      });
      return { applied: true };
    },
  });
}

function named({ name, token }: Lease): string {
  return `${name} by ${token}`;
}

function drop(client: Client, lease: Lease): void {
  client.leases = client.leases.filter((other) => other !== lease);
}

function lock(client: Client, chance: Chance): void {
  const ttl = chance.oneOf(TTLS);
  client.ask({
    what: `lock for ${ttl} ms`,
    call: () => client.store.lock(LOCK_NAME).try(client.name, { ttl }),
    judge: (held, since) => {
      if (held === null) return NOT_APPLIED;
      requireGranted(client, held.token, `lease ${LOCK_LEASE}`, since !== undefined);
      client.ask({ what: `unlock by ${held.token}`, call: () => held.release() });
      return NOT_APPLIED;
    },
  });
}

/** An effect is completed once, by whomever. */
function effect(client: Client, chance: Chance): void {
  const key = chance.oneOf(['charge', 'send']);
  client.ask({
    what: `begin the effect ${key}`,
    call: () => client.store.effect(key).begin(),
    judge: ({ state }, since) => {
      if (state === 'committed' || since === undefined) return NOT_APPLIED;
      client.ask({
        what: `complete the effect ${key}`,
        parts: [],
        call: (mark) =>
          client.store.effect(key).complete(mark, { writes: [put(`${MARK_PREFIX}${mark}`, mark)] }),
        judge: ({ applied, result }, sinceThen, mark) => {
          client.require(!applied || result === mark, () => `the effect ${key} is another's`);
          if (applied && sinceThen !== undefined) client.ledger.happenedOnce(`effect ${key}`);
          return { applied };
        },
      });
      return NOT_APPLIED;
    },
  });
}

/** Counts, marks and enqueues at once; sometimes under a guard. */
function transact(client: Client, chance: Chance): void {
  const lease = chance.happens(20) ? client.anyLease(chance) : undefined;
  const task = chance.happens(20) ? client.anyTask(chance) : undefined;
  const queue = client.anyQueue(chance).name;
  if (task !== undefined) client.ledger.mayEnd('complete', task.id, task.token);
  client.ask({
    what: `transact under ${lease && named(lease)}, completing ${task?.id}`,
    parts: ['t', 'o'],
    counts: true,
    call: (mark) =>
      client.store.transact((tx) => {
        if (lease !== undefined) tx.require(lease);
        if (task !== undefined) tx.complete(task);
        tx.kv.put(COUNTER, (tx.kv.get<number>(COUNTER)?.value ?? 0) + 1);
        for (const part of ['', '.o']) tx.kv.put(`${MARK_PREFIX}${mark}${part}`, mark);
        tx.queue(queue).enqueue(`${mark}.t`);
      }),
    judge: (answer, since) => {
      if (task !== undefined) client.drop(task);
      if (answer.ok && task !== undefined && since !== undefined) {
        client.ledger.happenedOnce(`completion of task ${task.id}`);
      }
      return { applied: answer.ok };
    },
  });
}

function putShared(client: Client, chance: Chance): void {
  const key = chance.oneOf(SHARED_KEYS);
  client.ask({
    what: `put ${key}`,
    call: (mark) => client.store.kv.put(key, mark),
    judge: ({ version }, since, mark) => {
      if (since === undefined) return NOT_APPLIED;
      const row = client.witness.around(version)?.after.values.get(key);
      const isThere = row?.version === version ? row.value === mark : (row?.version ?? 0) > version;
      client.require(isThere && version > since.version, () => {
        return `${key} was put as version ${version}, and ${JSON.stringify(row)} is stored`;
      });
      return NOT_APPLIED;
    },
  });
}

function getShared(client: Client, chance: Chance): void {
  const key = chance.oneOf([...SHARED_KEYS, COUNTER]);
  client.ask({
    what: `get ${key}`,
    call: () => client.store.kv.get(key),
    judge: (row, since) => {
      if (since === undefined) return NOT_APPLIED;
      const isTrue = client.witness.since(since.slot).some(({ values }) => {
        const stood = values.get(key);
        return stood?.version === row?.version && stood?.value === row?.value;
      });
      client.require(isTrue, () => `${key} was never ${JSON.stringify(row)} meanwhile`);
      return NOT_APPLIED;
    },
  });
}

function sync(client: Client): void {
  client.ask({
    what: 'sync',
    call: () => client.store.sync(),
    judge: (version, since) => {
      const newest = client.witness.now.version;
      const isBetween = since === undefined || (version >= since.version && version <= newest);
      client.require(isBetween, () => `sync answers version ${version}, the log is at ${newest}`);
      return NOT_APPLIED;
    },
  });
}

function verify(client: Client): void {
  client.ask({
    what: 'verify',
    call: () => client.store.verify(),
    judge: ({ ok, problems }) => {
      client.require(ok, () => `verify found ${problems.join()}`);
      return NOT_APPLIED;
    },
  });
}

function list(client: Client, chance: Chance): void {
  const queue = client.anyQueue(chance);
  client.ask({ what: `list ${queue.name}`, call: () => queue.list({ limit: 3 }) });
  client.ask({ what: `nextDue ${queue.name}`, call: () => queue.nextDue() });
  client.ask({ what: 'leases', call: () => client.store.leases.list() });
  client.ask({ what: 'queues', call: () => client.store.queues() });
}

function repairClock(client: Client): void {
  const isAnswered = client.witness.mayRepairClock();
  client.ask({
    what: 'repair the clock',
    call: () => client.store.repairClock(),
    // When it is not answered, or fails, it may still be stored at any time.
    judge: () => {
      isAnswered();
      return NOT_APPLIED;
    },
  });
}
