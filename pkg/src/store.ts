/** The store's handle: makes the handles of everything in it. Owns nothing but its session. */
import { readCaller } from './caller.js';
import type { Committer } from './committer.js';
import type { Declared } from './declared.js';
import { EffectHandle } from './effect.js';
import { FencepostError } from './errors.js';
import { listenToEvents } from './events.js';
import type { Torn } from './journal/journal.js';
import { KvTable } from './kv.js';
import { LeaseHandle, leaseRecord } from './lease.js';
import { LockHandle } from './lock.js';
import { effectName, lockName, outboxName, sharedName } from './names.js';
import { OUTBOX_QUEUE, readNameList, readQueueOptions } from './options.js';
import { pageOf } from './page.js';
import { joinParts } from './parts.js';
import { QueueHandle, type QueueHome } from './queue.js';
import { type CallerRequest, FAMILY } from './requests.js';
import { repairClock, ScheduleTable } from './schedule.js';
import { Session } from './session.js';
import { transact } from './transaction.js';
import type {
  Caller,
  Committed,
  Effect,
  EventsOptions,
  Kv,
  LeaseName,
  LeaseRecord,
  LockName,
  Page,
  Queue,
  QueueOptions,
  QueueSummary,
  Refused,
  ScheduledJob,
  ScheduleRecord,
  Store,
  StoreEvent,
  StoreUsage,
  Transaction,
  VerifyReport,
  When,
} from './types.js';
import type { Upkeep } from './upkeep.js';
import { readDrain } from './worker-options.js';
import { WorkerSet } from './worker-set.js';

/** What all handles of one open store share. */
export interface StoreParts {
  readonly name: string;
  readonly committer: Committer;
  readonly upkeep: Upkeep;
  readonly maxPayloadBytes: number;
  /** Default: no queue is. */
  readonly declared?: Declared | undefined;
  readonly recovered?: Torn | undefined;
}

export class StoreHandle implements Store {
  readonly kv: Kv;
  readonly leases: Store['leases'];
  readonly schedules: Store['schedules'];
  readonly #parts: StoreParts;
  readonly #caller: CallerRequest | undefined;
  readonly #session: Session;
  readonly #workers: WorkerSet;
  readonly #schedules: ScheduleTable;

  /** `of`: the store that this one is a restriction of. */
  constructor(parts: StoreParts, caller?: CallerRequest, of?: StoreHandle) {
    this.#parts = parts;
    this.#caller = caller;
    this.#session =
      of === undefined || caller === undefined
        ? new Session(parts.committer, caller, parts.declared)
        : of.#session.restrict(caller);
    this.#workers = of === undefined ? new WorkerSet() : of.#workers.branch();
    this.kv = new KvTable(this.#session);
    this.leases = { list: (options) => this.#listLeases(options) };
    const table = new ScheduleTable(this.#session);
    this.#schedules = table;
    this.schedules = { list: () => table.list(), get: (name) => table.get(name) };
  }

  get name(): string {
    return this.#parts.name;
  }

  get logId(): string {
    return this.#parts.committer.replica.logId;
  }

  get version(): number {
    return this.#parts.committer.replica.version;
  }

  get recovered(): Torn | undefined {
    return this.#parts.recovered;
  }

  queue<P = unknown, R = unknown>(name: string, options?: QueueOptions): Queue<P, R> {
    this.#session.requireOpen();
    const queue = sharedName('name', name);
    this.#session.checkName('name', queue);
    const defaults = readQueueOptions(options, this.#session.declared.of(queue));
    if (defaults.codec.name !== undefined) {
      this.#session.checkName('codec', { family: FAMILY.owner, text: defaults.codec.name });
    }
    const handle: Queue = new QueueHandle(this.#home, name, queue, defaults);
    return handle as Queue<P, R>;
  }

  outbox<P = unknown, R = unknown>(name: string): Queue<P, R> {
    this.#session.requireOpen();
    const queue = outboxName(name);
    this.#session.checkName('name', queue);
    const handle: Queue = new QueueHandle(this.#home, name, queue, OUTBOX_QUEUE);
    return handle as Queue<P, R>;
  }

  lease(name: string): LeaseName {
    this.#session.requireOpen();
    const lease = sharedName('name', name);
    this.#session.checkName('name', lease);
    return new LeaseHandle(this.#session, lease);
  }

  lock(name: string): LockName {
    this.#session.requireOpen();
    const lock = lockName(name);
    this.#session.checkName('name', lock);
    return new LockHandle(this.#session, lock);
  }

  effect(key: string): Effect {
    this.#session.requireOpen();
    const effect = effectName(key);
    this.#session.checkName('key', effect);
    return new EffectHandle(this.#session, effect, this.#parts.maxPayloadBytes);
  }

  schedule(name: string, when: When, job: ScheduledJob): Promise<ScheduleRecord> {
    return this.#schedules.put(name, when, job);
  }

  unschedule(name: string): Promise<boolean> {
    return this.#schedules.remove(name);
  }

  transact<T>(body: (tx: Transaction) => T): Promise<Committed<T> | Refused> {
    return transact(this.#session, body);
  }

  as(caller: Caller): Store {
    this.#session.requireOpen();
    const request = readCaller(caller, this.#caller);
    const store = new StoreHandle(this.#parts, request, this);
    this.#parts.committer.forgetWith(store.#session, request);
    return store;
  }

  async queues(): Promise<QueueSummary[]> {
    return this.#session.read((engine, at) => engine.queues(at));
  }

  events(options?: EventsOptions): AsyncIterable<StoreEvent> {
    return listenToEvents(this.#session, options);
  }

  async sync(): Promise<number> {
    this.#session.requireOpen();
    return this.#parts.committer.sync();
  }

  async snapshot(): Promise<Uint8Array> {
    this.#requireRoot('take a snapshot');
    const { copies } = this.#parts.committer.replica;
    const parts = await copies.make(
      (begin) => this.#session.read(begin),
      (_, read) => collect(read),
    );
    return joinParts(parts);
  }

  async usage(): Promise<StoreUsage> {
    this.#requireRoot('look at its usage');
    const usage = await this.#session.read((engine) => engine.usage());
    const { snapshotBytes: snapshot, entryBytes: entries } = this.#parts.committer.replica;
    return { ...usage, journal: { snapshot, entries } };
  }

  async verify(): Promise<VerifyReport> {
    this.#requireRoot('verify the store');
    return this.#session.read((engine) => engine.verify());
  }

  async repairClock(): Promise<void> {
    this.#requireRoot('repair the clock');
    await repairClock(this.#session);
  }

  async persist(): Promise<boolean> {
    this.#session.requireOpen();
    return persistStorage();
  }

  async close(options?: { drain?: number }): Promise<void> {
    const working = this.#workers.stop(readDrain(options, 0));
    // Handlers may use the store until they are over.
    if (working !== null) await working;
    this.#session.end();
    if (this.#caller !== undefined) return;
    this.#parts.upkeep.stop();
    await this.#parts.committer.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #home(): QueueHome {
    return { session: this.#session, store: this, workers: this.#workers };
  }

  async #listLeases(options?: {
    prefix?: string;
    cursor?: string;
    limit?: number;
  }): Promise<Page<LeaseRecord>> {
    const request = readNameList(options);
    const page = await this.#session.read((engine, at) => engine.leaseList(request, at));
    return pageOf(page, leaseRecord, ({ name }) => name);
  }

  #requireRoot(what: string): void {
    this.#session.requireOpen();
    if (this.#caller !== undefined) this.#deny(what);
  }

  #deny(what: string): never {
    const actor = this.#caller?.actor ?? '';
    throw new FencepostError('PERMISSION_DENIED', `${JSON.stringify(actor)} may not ${what}`, {
      details: { actor },
    });
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A browser may be asked to keep the data; elsewhere nobody evicts it. */
async function persistStorage(): Promise<boolean> {
  const storage = (globalThis as { navigator?: { storage?: Partial<StorageManager> } }).navigator
    ?.storage;
  if (storage?.persist !== undefined) return storage.persist();
  // Where there is IndexedDB there is eviction, also where nobody can be asked to spare us.
  return !('indexedDB' in globalThis);
}
