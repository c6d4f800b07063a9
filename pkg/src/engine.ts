/**
 * `fencepost/engine`: the engine by itself. Synchronous, without a journal and without timers, for
 * hosts that bring their own.
 *
 * Every operation takes `now` (whole milliseconds since the Unix epoch), answers at once, and is
 * true only when its entry is: `takeEntry()` makes one entry of everything since the last, the host
 * stores it, then `merge(entry)` makes it true here, and in any other engine that merges the same
 * entries in the same order. `discard()` forgets what was decided. Payloads, results, values,
 * progress and metadata are bytes; the engine never looks into them.
 *
 * ```ts
 * const engine = await Engine.load({ store: 'mail' })
 * engine.queueEnqueue({ queue: 'out', payload: new Uint8Array([1]), key: 'first' }, Date.now())
 * const [task] = engine.queueClaim({ queue: 'out', owner: 'me' }, Date.now())
 * const entry = engine.takeEntry()
 * if (entry) engine.merge(entry) // once it is stored
 * ```
 */

import {
  invalid,
  optionalChoice,
  optionalSeed,
  optionalWhole,
  readBytes,
  readOptions,
  readPayloadLimit,
  requireArray,
  requireWhole,
} from './arguments.js';
import * as fields from './engine-fields.js';
import {
  claimedFrom,
  FREED,
  optionalBytes,
  type RawClaim,
  type RawClaimed,
  type RawEnqueue,
  readClaim,
  readRawEnqueue,
  root,
} from './engine-requests.js';
import { Room } from './engine-room.js';
import type { EngineOptions } from './load.js';
import { keyName, requireName, sharedName } from './names.js';
import {
  failRequest,
  readClaimMax,
  readIdCursor,
  readLimit,
  readNameList,
  requireId,
} from './options.js';
import { joinParts, partsOf, restoreInto } from './parts.js';
import { loadEngine, type Platform } from './platform/platform.js';
import type {
  Bridge,
  EnqueuedReply,
  LeaseReply,
  Outcome,
  TaskReply,
  TaskState,
  ValueReply,
} from './requests.js';
import { ORDERS, TASK_STATES } from './requests.js';
import type { WasmSource, Write } from './types.js';
import { readWrites } from './writes.js';

/** A task that an engine made or found; `state` is what it is in. */
export type RawEnqueued = EnqueuedReply;
export type { RawClaim, RawClaimed, RawEnqueue } from './engine-requests.js';
export type { LeaseReply as RawLease, TaskReply as RawTask, ValueReply as RawValue };

/** How an engine is loaded. */
export interface LoadOptions extends Partial<EngineOptions> {
  /** Where the engine comes from. Default: what the package brings. */
  wasm?: WasmSource | undefined;
}

/** What stands behind the name `Engine`. */
export interface EngineLoader {
  /**
   * Loads the engine and makes one.
   *
   * @param options `store` (default `engine`) names a log founded here; `seed` makes jitter
   * repeatable;
   * `replica` must be unique among engines that write one log; `wasm` says where the engine comes
   * from
   * @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME`, `RESERVED_NAME`
   */
  load(options?: LoadOptions): Promise<Engine>;
}

const LOAD_OPTIONS = ['store', 'seed', 'replica', 'maxPayloadBytes', 'wasm'] as const;

/** On a platform, which knows where its engine is. */
export function engineOn(platform: Platform): EngineLoader {
  return {
    async load(options?: LoadOptions) {
      const given = readOptions('options', options, LOAD_OPTIONS);
      const replica = optionalWhole('replica', given.replica, 0);
      const store = requireName('store', given.store === undefined ? 'engine' : given.store);
      const seed = optionalSeed(given.seed);
      const maxPayloadBytes = readPayloadLimit(given.maxPayloadBytes);
      const module = await loadEngine(platform, given.wasm);
      const known = Number.isNaN(replica) ? {} : { replica };
      return new Engine(module.create({ store, seed, maxPayloadBytes, ...known }));
    },
  };
}

export class Engine {
  #bridge: Bridge;
  /** The entry taken last, so that merging it again need not decode it. */
  #taken: Uint8Array | undefined;
  /** Where entries were written last. */
  #room: Room | undefined;

  /** Engines are made by `Engine.load`. */
  constructor(bridge: Bridge) {
    this.#bridge = bridge;
  }

  /**
   * @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME`, `PAYLOAD_TOO_LARGE`, `CHECK_FAILED`
   */
  queueEnqueue(request: RawEnqueue, now: number): EnqueuedReply {
    return this.#bridge.queueEnqueue(readRawEnqueue('request', request), root(now));
  }

  /**
   * The next tasks in order, at most `max` (default 1, cut to 1 000; 0 and less claim nothing).
   * `lease`: how long the claims last, in milliseconds; default: as each task's own stamp says.
   */
  queueClaim(
    request: { queue: string; owner: string; max?: number; lease?: number },
    now: number,
  ): RawClaimed[] {
    const { queue, owner, max, lease } = readOptions('request', request, fields.CLAIM);
    const claim = {
      queue: sharedName('queue', queue),
      owner: requireName('owner', owner),
      max: readClaimMax(max),
      lease: optionalWhole('lease', lease, 0),
    };
    return this.#bridge.queueClaim(claim, root(now)).map((task) => claimedFrom(task, claim.queue));
  }

  queueComplete(
    request: RawClaim & { result?: Uint8Array; followUps?: RawEnqueue[]; writes?: Write[] },
    now: number,
  ): Outcome<EnqueuedReply[]> {
    const given = readOptions('request', request, fields.COMPLETE);
    const followUps =
      given.followUps === undefined ? [] : requireArray('followUps', given.followUps);
    const { queue, id, token } = readClaim(given);
    const complete = {
      queue,
      id,
      token,
      result: optionalBytes('result', given.result),
      followUps: followUps.map((one, at) => readRawEnqueue(`followUps[${at}]`, one)),
      writes: readWrites(given.writes),
    };
    return this.#bridge.queueComplete(complete, root(now));
  }

  queueFail(
    request: RawClaim & { error?: unknown; delay?: number; final?: boolean; writes?: Write[] },
    now: number,
  ): Outcome<{ state: TaskState; runAt?: number }> {
    const given = readOptions('request', request, fields.FAIL);
    const fail = { ...readClaim(given), ...failRequest(given.error, given) };
    return this.#bridge.queueFail(fail, root(now));
  }

  /** Answers the new deadline: `now + extend`; default: the claim's own length. */
  queueHeartbeat(
    request: RawClaim & { extend?: number; progress?: Uint8Array },
    now: number,
  ): Outcome<number> {
    const given = readOptions('request', request, fields.HEARTBEAT);
    const { queue, id, token } = readClaim(given);
    const heartbeat = {
      queue,
      id,
      token,
      extend: optionalWhole('extend', given.extend, 1),
      progress: optionalBytes('progress', given.progress),
    };
    return this.#bridge.queueHeartbeat(heartbeat, root(now));
  }

  /** Removes a task in whatever state; whether there was one. */
  queueCancel(request: { queue: string; id: number; reason?: string }, now: number): boolean {
    const { queue, id, reason } = readOptions('request', request, fields.CANCEL);
    const text = reason === undefined ? undefined : requireName('reason', reason);
    return this.#bridge.queueCancel(sharedName('queue', queue), requireId(id), text, root(now));
  }

  queueGet(request: { queue: string; id: number }, now: number): TaskReply | undefined {
    const { queue, id } = readOptions('request', request, fields.GET);
    return this.#bridge.queueGet(sharedName('queue', queue), requireId(id), root(now));
  }

  /** A page in id order; `cursor` continues behind it. */
  queueList(
    request: {
      queue: string;
      state?: TaskState;
      order?: 'asc' | 'desc';
      cursor?: string;
      limit?: number;
    },
    now: number,
  ): { items: TaskReply[]; cursor?: string } {
    const { queue, state, order, cursor, limit } = readOptions('request', request, fields.LIST);
    const wanted = TASK_STATES.find((name) => name === state);
    if (state !== undefined && wanted === undefined) {
      throw invalid('state', `one of ${TASK_STATES.join(', ')}`, String(state));
    }
    const list = {
      queue: sharedName('queue', queue),
      state: wanted,
      order: optionalChoice('order', order, ORDERS) ?? 'asc',
      cursor: readIdCursor(cursor),
      limit: readLimit(limit),
    };
    const { items, more } = this.#bridge.queueList(list, root(now));
    const last = items.at(-1);
    return more && last !== undefined ? { items, cursor: String(last.id) } : { items };
  }

  leaseAcquire(
    request: { name: string; owner: string; ttl: number; meta?: Uint8Array },
    now: number,
  ): Outcome<{ token: number; until: number; acquiredAt: number; meta: Uint8Array | undefined }> {
    const { name, owner, ttl, meta } = readOptions('request', request, fields.ACQUIRE);
    const acquire = {
      name: sharedName('name', name),
      owner: requireName('owner', owner),
      ttl: requireWhole('ttl', ttl, 0),
      meta: optionalBytes('meta', meta),
    };
    return this.#bridge.leaseAcquire(acquire, root(now));
  }

  /** Answers the new end. */
  leaseRenew(
    request: { name: string; token: number; ttl?: number; meta?: Uint8Array },
    now: number,
  ): Outcome<number> {
    const { name, token, ttl, meta } = readOptions('request', request, fields.RENEW);
    const renew = {
      name: sharedName('name', name),
      token: requireWhole('token', token, 0),
      ttl: optionalWhole('ttl', ttl, 0),
      meta: optionalBytes('meta', meta),
    };
    return this.#bridge.leaseRenew(renew, root(now));
  }

  /** Whether the token still had it. */
  leaseRelease(request: { name: string; token: number }, now: number): boolean {
    const { name, token } = readOptions('request', request, fields.RELEASE);
    return this.#bridge.leaseRelease(
      sharedName('name', name),
      requireWhole('token', token, 0),
      root(now),
    );
  }

  /** Applies writes while the lease is held; an empty list just asks. */
  leaseGuardedCommit(
    request: { name: string; token: number; writes: Write[] },
    now: number,
  ): Outcome<undefined> {
    const { name, token, writes } = readOptions('request', request, fields.GUARDED);
    return this.#bridge.leaseGuardedCommit(
      sharedName('name', name),
      requireWhole('token', token, 0),
      readWrites(writes),
      root(now),
    );
  }

  /** A merged value, as JSON bytes, with its version; undefined when there is none. */
  kvGet(request: { key: string }, now: number): ValueReply | undefined {
    const { key } = readOptions('request', request, ['key']);
    return this.#bridge.kvGet(keyName(key), root(now));
  }

  /** A page in key order; `cursor` continues behind it. */
  kvList(
    request: { prefix?: string; cursor?: string; limit?: number },
    now: number,
  ): { items: ValueReply[]; cursor?: string } {
    const { items, more } = this.#bridge.kvList(readNameList(request), root(now));
    const last = items.at(-1);
    return more && last !== undefined ? { items, cursor: last.key } : { items };
  }

  leaseStatus(request: { name: string }, now: number): LeaseReply | undefined {
    const { name } = readOptions('request', request, ['name']);
    return this.#bridge.leaseStatus(sharedName('name', name), root(now));
  }

  /**
   * One entry of everything decided since the last, or `null` when nothing changed. Until it is
   * merged or discarded, no operation is taken.
   *
   * `into`: bytes to write the entry to, when it fits; the answer is then a view of their
   * beginning. **The trap**: the next `takeEntry(into)` writes over it. Its write must have ended
   * by then, and whoever keeps an entry copies it. Without `into`, or when it does not fit, the
   * answer has a buffer of its own, which is slower.
   *
   * ```ts
   * const into = new Uint8Array(64 * 1024)
   * const entry = engine.takeEntry(into)
   * if (entry) {
   *   appendFileSync('entries', entry)
   *   engine.merge(entry)
   * }
   * ```
   *
   * @throws FencepostError `INVALID_ARGUMENT` when `into` is no Uint8Array, or was given away
   */
  takeEntry(into?: Uint8Array): Uint8Array | null {
    if (into === undefined) this.#room = undefined;
    else if (!this.#room?.isOf(into)) this.#room = new Room('into', into);
    this.#taken = this.#bridge.takeBytes(this.#room);
    return this.#taken ?? null;
  }

  /**
   * Makes an entry true: the one taken here, once it is stored, or the next one of another engine.
   *
   * @throws FencepostError `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`, `LOG_REPLACED`; `INVALID_ARGUMENT`
   * while something decided waits
   */
  merge(entry: Uint8Array): void {
    const taken = this.#taken;
    if (taken !== undefined && entry === taken) this.#bridge.mergeSealed();
    else this.#bridge.merge(readBytes(entry, 'entry'));
    this.#taken = undefined;
  }

  /** Forgets everything decided since the last merge, a taken entry included. */
  discard(): void {
    this.#taken = undefined;
    this.#bridge.discard();
  }

  /** All rows, as bytes: the parts of `snapshotParts`, one after the other. */
  snapshot(): Uint8Array {
    return joinParts([...this.snapshotParts()]);
  }

  /**
   * All rows as of the first step, in parts of about 1 MiB. Entries may be merged between two
   * parts: the parts are the rows as they were. Only the snapshot that was begun last goes on.
   *
   * @throws FencepostError `INVALID_ARGUMENT` when another snapshot was begun meanwhile, or
   * something was restored
   */
  *snapshotParts(): Generator<Uint8Array, void, void> {
    yield* partsOf(this.#bridge, () => this.#bridge !== FREED);
  }

  /**
   * Replaces everything by a snapshot: its bytes, or pieces of them in their order.
   *
   * @throws FencepostError `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`: then nothing has changed
   */
  restore(snapshot: Uint8Array | Iterable<Uint8Array>): void {
    this.#taken = undefined;
    restoreInto(this.#bridge, snapshot);
  }

  /** Rebuilds every index from the rows and compares. */
  verify(): { ok: boolean; rows: number; problems: string[] } {
    return this.#bridge.verify();
  }

  /** Of the newest merged command. */
  get version(): number {
    return this.#bridge.version;
  }

  /** How many entries are merged: of all entries in an array, `entries[slot]` is the next. */
  get slot(): number {
    return this.#bridge.slot;
  }

  /** Gives the memory back. Whatever is called afterwards throws `INVALID_ARGUMENT`. */
  free(): void {
    this.#bridge.free();
    this.#bridge = FREED;
  }
}
