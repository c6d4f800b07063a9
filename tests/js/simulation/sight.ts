/** All rows of a store as they are behind one entry, read from an engine. */
import type { Bridge, TaskReply } from '../../../pkg/dist/requests.js';
import { FAMILY, type TASK_STATES } from '../../../pkg/dist/requests.js';
import { LEASE_NAMES, LOCK_LEASE, QUEUE_NAMES } from './places.js';

export interface TaskSight {
  readonly id: number;
  readonly queue: string;
  readonly state: (typeof TASK_STATES)[number];
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly token: number | undefined;
  readonly owner: string | undefined;
  readonly deadline: number | undefined;
  readonly runAt: number;
  readonly expiresAt: number | undefined;
  readonly updatedAt: number;
  /** Of the schedule that made it. */
  readonly boundary: number | undefined;
  /** Of the command that made it. */
  readonly mark: string;
}

export interface LeaseSight {
  readonly token: number;
  readonly owner: string | undefined;
  readonly until: number;
}

export interface Sight {
  readonly slot: number;
  readonly version: number;
  readonly time: number;
  readonly rowsHash: string;
  readonly tasks: ReadonlyMap<number, TaskSight>;
  readonly leases: ReadonlyMap<string, LeaseSight>;
  readonly values: ReadonlyMap<string, { value: unknown; version: number | undefined }>;
  readonly paused: ReadonlySet<string>;
}

export const NOTHING_SEEN: Sight = {
  slot: 0,
  version: 0,
  time: 0,
  rowsHash: '',
  tasks: new Map(),
  leases: new Map(),
  values: new Map(),
  paused: new Set(),
};

const PAGE = 1_000;
const decoder = new TextDecoder();

/** `marks`: those of tasks that were seen before, as payloads never change. */
export function look(engine: Bridge, marks: Map<number, string>): Sight {
  const at = { now: engine.time, caller: 0 };
  const tasks = new Map<number, TaskSight>();
  for (const name of QUEUE_NAMES) {
    const queue = { family: FAMILY.shared, text: name };
    const page = { order: 'asc' as const, cursor: Number.NaN, limit: PAGE };
    const { items, more } = engine.queueList({ queue, state: undefined, ...page }, at);
    if (more) throw new Error('a world has fewer tasks than a page');
    for (const item of items) tasks.set(item.id, taskSight(name, item, marks));
  }
  const leases = new Map<string, LeaseSight>();
  for (const text of [...LEASE_NAMES, LOCK_LEASE]) {
    const lease = engine.leaseStatus({ family: familyOf(text), text }, at);
    if (lease !== undefined) leases.set(text, lease);
  }
  const list = { prefix: '', cursor: undefined, limit: PAGE };
  const values = engine.kvList(list, at).items.map(({ key, value, version }) => {
    return [key, { value: JSON.parse(decoder.decode(value)) as unknown, version }] as const;
  });
  const paused = engine.queues(at).filter((queue) => queue.paused);
  return {
    slot: engine.slot,
    version: engine.version,
    time: engine.time,
    rowsHash: engine.rowsHash(),
    tasks,
    leases,
    values: new Map(values),
    paused: new Set(paused.map(({ name }) => name)),
  };
}

function familyOf(lease: string) {
  return lease === LOCK_LEASE ? FAMILY.lock : FAMILY.shared;
}

function taskSight(queue: string, task: TaskReply, marks: Map<number, string>): TaskSight {
  const { id, state, attempt, maxAttempts, token, owner, deadline } = task;
  const { runAt, expiresAt, updatedAt, boundary } = task;
  let mark = marks.get(id);
  if (mark === undefined) {
    mark = String(JSON.parse(decoder.decode(task.payload)));
    marks.set(id, mark);
  }
  return {
    id,
    queue,
    state,
    attempt,
    maxAttempts,
    token,
    owner,
    deadline,
    runAt,
    expiresAt,
    updatedAt,
    boundary,
    mark,
  };
}
