/** A queue's handle: a name, the stamps it puts on what it enqueues, and a codec. */
import {
  invalid,
  optionalChoice,
  optionalSignal,
  optionalWhole,
  readOptions,
  requireArray,
  requireFunction,
  requireText,
  requireWhole,
} from './arguments.js';
import { requireSameCodec } from './codec.js';
import { shown } from './errors.js';
import { ownerName, requireName } from './names.js';
import {
  BATCH_MAX,
  type QueueDefaults,
  readClaimMax,
  readEnqueue,
  readIdCursor,
  readIds,
  readInstant,
  readLimit,
  requireId,
} from './options.js';
import { pageOf } from './page.js';
import {
  type Bridge,
  type FullName,
  type Moment,
  ORDERS,
  ROOT,
  TASK_STATES,
  type TaskReply,
} from './requests.js';
import type { Session } from './session.js';
import { ClaimedTask, enqueued, readClaimHolder, type TaskHome } from './task.js';
import { taskRecord } from './task-record.js';
import type {
  ClaimHolder,
  Enqueued,
  EnqueueOptions,
  Explanation,
  Handler,
  Page,
  Queue,
  Store,
  Task,
  TaskCounts,
  TaskRecord,
  TaskState,
  Worker,
  WorkOptions,
} from './types.js';
import { waitUntilDrained } from './wait-for-drained.js';
import { waitForResult } from './wait-for-result.js';
import { readWorkOptions } from './worker-options.js';
import type { WorkerSet } from './worker-set.js';

const LIST_OPTIONS = ['state', 'order', 'cursor', 'limit'] as const;

/** What a queue needs of its store. */
export interface QueueHome {
  readonly session: Session;
  readonly store: Store;
  readonly workers: WorkerSet;
}

export class QueueHandle implements Queue {
  readonly name: string;
  readonly #home: TaskHome;
  readonly #of: QueueHome;
  readonly #defaults: QueueDefaults;

  /** `name` is what the handle is called; `queue` is what the engine calls it. */
  constructor(of: QueueHome, name: string, queue: FullName, defaults: QueueDefaults) {
    this.name = name;
    this.#of = of;
    this.#home = { session: of.session, queue, codec: defaults.codec };
    this.#defaults = defaults;
  }

  async enqueue(payload: unknown, options?: EnqueueOptions): Promise<Enqueued> {
    const request = this.#enqueueRequest(payload, options);
    return enqueued(await this.#command((engine, at) => engine.queueEnqueue(request, at)));
  }

  async enqueueMany(items: { payload: unknown; options?: EnqueueOptions }[]): Promise<Enqueued[]> {
    const requests = requireArray('items', items, BATCH_MAX).map((item, index) => {
      const argument = `items[${index}]`;
      if (item === undefined) throw invalid(argument, 'an object', shown(item));
      const { payload, options } = readOptions(argument, item, ['payload', 'options']);
      return this.#enqueueRequest(payload, options, `${argument}.`);
    });
    const all = await this.#command((engine, at) => engine.queueEnqueueMany(requests, at));
    return all.map(enqueued);
  }

  async claim(owner: string, options?: { max?: number; lease?: number }): Promise<Task[]> {
    const { max, lease } = readOptions('options', options, ['max', 'lease']);
    const request = {
      queue: this.#home.queue,
      owner: ownerName(owner).text,
      max: readClaimMax(max),
      lease: optionalWhole('lease', lease, 0),
    };
    const replies = await this.#command((engine, at) => engine.queueClaim(request, at));
    return replies.map((reply) => new ClaimedTask(this.#home, reply));
  }

  async adopt(id: number, token: number): Promise<Task | null> {
    requireId(id);
    requireWhole('token', token, 0);
    const claim = { queue: this.#home.queue, id, token };
    // Whoever may settle the claim may have it back, and needs to inspect nothing else.
    const { reply } = await this.#home.session.alone((engine, at) => {
      const { ok } = engine.txRequireClaim(claim, at);
      return ok ? engine.queueGet(claim.queue, id, { ...at, caller: ROOT }) : undefined;
    });
    if (reply === undefined) return null;
    return new ClaimedTask(this.#home, reply);
  }

  async completeMany(tasks: readonly ClaimHolder[]): Promise<number> {
    const claims = requireArray('tasks', tasks, BATCH_MAX).map((task, index) => ({
      queue: this.#home.queue,
      ...readClaimHolder(`tasks[${index}]`, task),
    }));
    return this.#command((engine, at) => engine.queueCompleteMany(claims, at));
  }

  async get(id: number): Promise<TaskRecord | null> {
    requireId(id);
    const reply = await this.#read((engine, at) => engine.queueGet(this.#home.queue, id, at));
    return reply === undefined ? null : this.#record(reply);
  }

  async list(options?: {
    state?: TaskState;
    order?: 'asc' | 'desc';
    cursor?: string;
    limit?: number;
  }): Promise<Page<TaskRecord>> {
    const { state, order, cursor, limit } = readOptions('options', options, LIST_OPTIONS);
    const request = {
      queue: this.#home.queue,
      state: optionalChoice('state', state, TASK_STATES),
      order: optionalChoice('order', order, ORDERS) ?? 'asc',
      cursor: readIdCursor(cursor),
      limit: readLimit(limit),
    };
    const page = await this.#read((engine, at) => engine.queueList(request, at));
    return pageOf(
      page,
      (reply) => this.#record(reply),
      (reply) => String(reply.id),
    );
  }

  async byKey(key: string): Promise<TaskRecord | null> {
    const name = requireName('key', key);
    const reply = await this.#read((engine, at) => engine.queueByKey(this.#home.queue, name, at));
    return reply === undefined ? null : this.#record(reply);
  }

  async counts(): Promise<TaskCounts> {
    return this.#read((engine, at) => engine.queueCounts(this.#home.queue, at));
  }

  async cancel(id: number, reason?: string): Promise<boolean> {
    requireId(id);
    const text = reason === undefined ? undefined : requireText('reason', reason);
    return this.#command((engine, at) => engine.queueCancel(this.#home.queue, id, text, at));
  }

  async sweep(): Promise<{ expired: number; purged: number }> {
    const total = { expired: 0, purged: 0 };
    let more = true;
    while (more) {
      const swept = await this.#command((engine, at) => engine.queueSweep(this.#home.queue, at));
      total.expired += swept.expired;
      total.purged += swept.purged;
      more = swept.more;
    }
    return total;
  }

  async redrive(options?: { ids?: number[]; limit?: number }): Promise<number> {
    const given = readOptions('options', options, ['ids', 'limit']);
    const ids = readIds(given.ids);
    const limit = optionalWhole('limit', given.limit, 0);
    const { queue } = this.#home;
    let [total, after, more] = [0, 0, true];
    while (more && !(total >= limit)) {
      const request = { limit: limit - total, after, ids };
      const done = await this.#command((engine, at) => engine.queueRedrive(queue, request, at));
      total += done.count;
      ({ more, last: after } = done);
    }
    return total;
  }

  async purge(options?: { state?: 'dead' | 'done'; ids?: number[] }): Promise<number> {
    const given = readOptions('options', options, ['state', 'ids']);
    const state = optionalChoice('state', given.state, ['dead', 'done'] as const);
    const [ids, { queue }] = [readIds(given.ids), this.#home];
    let [total, more] = [0, true];
    while (more) {
      const done = await this.#command((engine, at) => engine.queuePurge(queue, state, ids, at));
      total += done.count;
      more = done.more;
    }
    return total;
  }

  async promote(ids: readonly number[]): Promise<number> {
    const chosen = readIds(ids);
    if (chosen === undefined) throw invalid('ids', 'an array', 'undefined');
    return this.#command((engine, at) => engine.queuePromote(this.#home.queue, chosen, at));
  }

  async reschedule(id: number, at: number | Date): Promise<boolean> {
    requireId(id);
    const runAt = readInstant('at', at);
    const { queue } = this.#home;
    return this.#command((engine, moment) => engine.queueReschedule(queue, id, runAt, moment));
  }

  async pause(): Promise<void> {
    await this.#command((engine, at) => engine.queuePause(this.#home.queue, true, at));
  }

  async resume(): Promise<void> {
    await this.#command((engine, at) => engine.queuePause(this.#home.queue, false, at));
  }

  async explain(id: number): Promise<Explanation | null> {
    requireId(id);
    const found = await this.#read((engine, at) => engine.queueExplain(this.#home.queue, id, at));
    return (found as Explanation | undefined) ?? null;
  }

  async nextDue(): Promise<number | null> {
    const due = await this.#read((engine, at) => engine.queueNextDue(this.#home.queue, at));
    return due ?? null;
  }

  async result(id: number, options?: { signal?: AbortSignal }): Promise<unknown> {
    requireId(id);
    const { signal } = readOptions('options', options, ['signal']);
    const { session, queue, codec } = this.#home;
    const task = await waitForResult(session, queue, id, optionalSignal(signal));
    if (task.result === undefined) return undefined;
    requireSameCodec(codec, task.codec);
    return codec.decode(task.result);
  }

  async drained(options?: { until?: number | Date; signal?: AbortSignal }): Promise<void> {
    const { until, signal } = readOptions('options', options, ['until', 'signal']);
    const { session, queue } = this.#home;
    const instant = readInstant('until', until);
    await waitUntilDrained(session, queue, {
      until: Number.isNaN(instant) ? Infinity : instant,
      signal: optionalSignal(signal),
    });
  }

  work(handler: Handler, options?: WorkOptions): Worker {
    const { session, store, workers } = this.#of;
    session.requireOpen();
    requireFunction('handler', handler);
    const settings = readWorkOptions(options);
    session.checkName('owner', settings.owner);
    session.requireWork(this.#home.queue);
    return workers.begin({ home: this.#home, store, handler, settings });
  }

  #enqueueRequest(payload: unknown, options: unknown, item?: string) {
    return readEnqueue(this.#home.queue, this.#defaults, payload, options, 'with writes', item);
  }

  #record(reply: TaskReply): TaskRecord {
    return taskRecord(this.#home.queue.text, reply, this.#home.codec);
  }

  async #command<T>(decide: (engine: Bridge, at: Moment) => T): Promise<T> {
    return (await this.#home.session.command(decide)).reply;
  }

  #read<T>(look: (engine: Bridge, at: Moment) => T): Promise<T> {
    return this.#home.session.read(look);
  }
}
