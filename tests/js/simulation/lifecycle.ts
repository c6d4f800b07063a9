/**
 * What may become of a task from one entry to the next. An entry holds several commands, so a task
 * may take several steps in it: each must be one that somebody asked for, or that time allows.
 */
import type { Ledger } from './ledger.js';
import { QUEUES, WORKER } from './places.js';
import type { TaskSight } from './sight.js';

export type Stage = TaskSight['state'] | 'gone';

/** Whether the task can have come from where it was to `target`. */
export function mayBecome(task: TaskSight, target: Stage, time: number, ledger: Ledger): boolean {
  const reached = new Set(steps(task.state, task, time, ledger));
  // A set is walked in the order of insertion, what is added on the way included.
  for (const stage of reached) {
    for (const next of steps(stage, task, time, ledger)) reached.add(next);
  }
  return reached.has(target);
}

function steps(stage: Stage, task: TaskSight, time: number, ledger: Ledger): Stage[] {
  if (stage === 'gone') return [];
  const { id, queue } = task;
  const isCancelled = ledger.mayHave('cancel', id);
  const steps: Stage[] = isCancelled ? ['gone'] : [];
  // Follow-ups do not have the stamps of their queue.
  const dead: Stage[] = QUEUES[queue]?.deadRetention === 0 ? ['dead', 'gone'] : ['dead'];
  switch (stage) {
    case 'inflight':
      return [...steps, ...endsOfClaim(task, time, dead, ledger)];
    case 'done':
      return isPurged(task, time, ledger) ? [...steps, 'gone'] : steps;
    case 'dead':
      if (isPurged(task, time, ledger)) steps.push('gone');
      return ledger.mayHaveRedriven(queue) ? [...steps, 'ready', 'scheduled'] : steps;
    default:
      return [...steps, 'ready', 'scheduled', 'inflight', ...(isExpired(task, time) ? dead : [])];
  }
}

/** Only the owner of the token that was current ends its claim: nobody knows a newer one yet. */
function endsOfClaim(task: TaskSight, time: number, dead: Stage[], ledger: Ledger): Stage[] {
  const { id, token, attempt, maxAttempts, deadline = 0 } = task;
  const isLapsed = deadline < time;
  const steps: Stage[] = isLapsed ? ['inflight'] : [];
  if (isExpired(task, time) || (isLapsed && attempt >= maxAttempts)) steps.push(...dead);
  // A worker that is stopped gives back what it claimed, be it before a handler ran.
  if (task.owner?.endsWith(WORKER) === true) steps.push('ready', 'scheduled');
  if (token === undefined) return steps;
  if (ledger.mayHave('complete', id, token)) steps.push('done', 'gone');
  if (ledger.mayHave('fail', id, token)) steps.push('ready', 'scheduled', ...dead);
  if (ledger.mayHave('release', id, token)) steps.push('ready', 'scheduled');
  return steps;
}

function isExpired({ expiresAt }: TaskSight, time: number): boolean {
  return expiresAt !== undefined && expiresAt <= time;
}

/** A row past its retention is hidden before it is removed. */
function isPurged({ queue, state, updatedAt }: TaskSight, time: number, ledger: Ledger): boolean {
  if (ledger.mayHavePurged(queue)) return true;
  const { resultRetention = 0, deadRetention = Number.POSITIVE_INFINITY } = QUEUES[queue] ?? {};
  return updatedAt + (state === 'done' ? resultRetention : deadRetention) <= time;
}
