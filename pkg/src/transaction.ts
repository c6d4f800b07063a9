/**
 * Transactions: a body of the user's as one command.
 *
 * **Invariant**: the body runs while the command is decided, so nothing changes under it; it may
 * run again, on newer rows. After it, its `tx` is dead.
 *
 * **Invariant**: the first guard that does not hold ends the body and is what the refusal names,
 * even if the body catches what the guard threw.
 */
import {
  invalid,
  optionalWhole,
  readOptions,
  requireFunction,
  requireWhole,
  unreadable,
} from './arguments.js';
import { decodeJson, optionalJson, type RowCodec, requireSameCodec } from './codec.js';
import type { Declared } from './declared.js';
import { FencepostError, shown } from './errors.js';
import { encodeValue } from './kv.js';
import { keyName, outboxName, queueOfTask, sharedName } from './names.js';
import {
  failRequest,
  OUTBOX_QUEUE,
  type QueueDefaults,
  readDelay,
  readEnqueue,
  readNameList,
  readQueueOptions,
  requireId,
} from './options.js';
import { pageOf } from './page.js';
import {
  type Bridge,
  type ClaimReference,
  type FullName,
  type Moment,
  type Outcome,
  type Refused,
  ROOT,
} from './requests.js';
import type { Session } from './session.js';
import { ClaimedTask, enqueued, readClaimHolder } from './task.js';
import { taskRecord } from './task-record.js';
import type { Committed, QueueOptions, Transaction, TransactionQueue } from './types.js';
import { readVersion } from './writes.js';

/** What has to hold. */
type Ask = (engine: Bridge, at: Moment) => Outcome<unknown>;

/** What is asked before the body begins. */
export type Guard = (engine: Bridge, at: Moment) => Outcome<undefined>;

const GONE: Outcome<never> = { ok: false, reason: 'gone' };

type Verdict<T> =
  | { how: 'returned'; value: T }
  | { how: 'threw'; error: unknown }
  | { how: 'refused'; refusal: Refused };

/** Runs a body as one command. */
export async function transact<T>(
  session: Session,
  body: (tx: Transaction) => T,
  guard?: Guard,
): Promise<Committed<T> | Refused> {
  requireFunction('body', body);
  const run = session.capture();
  const { declared } = session;
  const { reply, version } = await session.command((engine, at) =>
    run(() => decide(engine, at, { body, guard, declared })),
  );
  if (reply.how === 'threw') throw reply.error;
  return reply.how === 'refused' ? reply.refusal : { ok: true, value: reply.value, version };
}

interface Asked<T> {
  readonly body: (tx: Transaction) => T;
  readonly guard: Guard | undefined;
  readonly declared: Declared;
}

function decide<T>(engine: Bridge, at: Moment, { body, guard, declared }: Asked<T>): Verdict<T> {
  const moment = { ...at, now: engine.txBegin(at.now) };
  const running = new Running(engine, moment, declared);
  const verdict = run(running, body, guard);
  running.end();
  if (running.crash !== null) throw running.crash.error;
  if (running.refused !== null || verdict.how !== 'returned') {
    engine.txAbort();
    return running.refused === null ? verdict : { how: 'refused', refusal: running.refused };
  }
  try {
    engine.txCommit(moment.now);
  } catch (error) {
    // The trap: an engine that crashed must not be called again.
    if (error instanceof FencepostError) engine.txAbort();
    throw error;
  }
  return verdict;
}

function run<T>(running: Running, body: (tx: Transaction) => T, guard?: Guard): Verdict<T> {
  try {
    if (guard !== undefined) running.guard(guard);
    const value = body(makeTransaction(running));
    if (!isThenable(value)) return { how: 'returned', value };
    // What comes of it is nobody's any more.
    Promise.resolve(value).catch(() => undefined);
    return { how: 'threw', error: invalid('body', 'a function that is not async', 'a promise') };
  } catch (error) {
    return { how: 'threw', error };
  }
}

function isThenable(value: unknown): boolean {
  const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isThing && typeof (value as { then?: unknown }).then === 'function';
}

/** A transaction under way. */
class Running {
  readonly #engine: Bridge;
  readonly #at: Moment;
  readonly declared: Declared;
  #isOver = false;
  refused: Refused | null = null;
  crash: { error: unknown } | null = null;

  constructor(engine: Bridge, at: Moment, declared: Declared) {
    this.#engine = engine;
    this.#at = at;
    this.declared = declared;
  }

  get now(): number {
    return this.#at.now;
  }

  end(): void {
    this.#isOver = true;
  }

  use<T>(call: (engine: Bridge, at: Moment) => T): T {
    if (this.#isOver) throw invalid('tx', 'to be used inside of its body', 'a call after it');
    if (this.refused !== null) throw guardFailed(this.refused);
    if (this.crash !== null) throw this.crash.error;
    try {
      return call(this.#engine, this.#at);
    } catch (error) {
      if (!(error instanceof FencepostError)) this.crash = { error };
      throw error;
    }
  }

  guard(call: Ask): void {
    const outcome = this.use(call);
    if (outcome.ok) return;
    this.refused = outcome;
    throw guardFailed(outcome);
  }
}

function guardFailed({ reason, details }: Refused): FencepostError {
  return new FencepostError('CHECK_FAILED', `the transaction is refused: ${reason}`, {
    details: { reason, ...details },
  });
}

function makeTransaction(running: Running): Transaction {
  return {
    get now() {
      return running.now;
    },
    kv: makeKv(running),
    queue: (name: string, options?: QueueOptions) => {
      const queue = sharedName('name', name);
      running.use((engine) => engine.checkName('name', queue));
      return makeQueue(running, queue, readQueueOptions(options, running.declared.of(queue)));
    },
    outbox: (name) => {
      const queue = outboxName(name);
      running.use((engine) => engine.checkName('name', queue));
      const { enqueue } = makeQueue(running, queue, OUTBOX_QUEUE);
      return { enqueue };
    },
    require: (holder) => {
      const guard = readHolder(holder);
      running.guard(guard);
    },
    check: (key, version) => {
      const [name, expected] = [keyName(key), readVersion(version)];
      running.guard((engine, at) => engine.txCheck(name, expected, at));
    },
    ...makeSettling(running),
  };
}

function makeSettling(
  running: Running,
): Pick<Transaction, 'complete' | 'fail' | 'heartbeat' | 'release'> {
  return {
    complete: (task, result) => {
      const settle = claimGuard(task, (claim, engine, at) => {
        const codec = () => codecOf(running.declared.of(claim.queue), claim, engine, at);
        const encoded = ClaimedTask.encode(task, result, codec);
        const request = { ...claim, result: encoded, followUps: [], writes: [] };
        return engine.queueComplete(request, at);
      });
      running.guard(settle);
    },
    fail: (task, error, options) => {
      const given = readOptions('options', options, ['delay', 'final']);
      const failure = failRequest(error, given);
      running.guard(
        claimGuard(task, (claim, engine, at) => engine.queueFail({ ...claim, ...failure }, at)),
      );
    },
    heartbeat: (task, options) => {
      const given = readOptions('options', options, ['extend', 'progress']);
      const extend = optionalWhole('extend', given.extend, 1);
      const progress = optionalJson(given.progress, 'progress');
      running.guard(
        claimGuard(task, (claim, engine, at) =>
          engine.queueHeartbeat({ ...claim, extend, progress }, at),
        ),
      );
    },
    release: (task, options) => {
      const delay = readDelay(readOptions('options', options, ['delay']).delay);
      running.guard(claimGuard(task, (claim, engine, at) => engine.queueRelease(claim, delay, at)));
    },
  };
}

/** Of a task that is known by its claim only: that of its queue, if its row was made with it. */
function codecOf(
  { codec }: QueueDefaults,
  { queue, id }: ClaimReference,
  engine: Bridge,
  at: Moment,
): RowCodec {
  const row = engine.txGet(queue, id, { ...at, caller: ROOT });
  if (row !== undefined) requireSameCodec(codec, row.codec);
  return codec;
}

function makeKv(running: Running): Transaction['kv'] {
  return {
    get: <T>(key: string) => {
      const name = keyName(key);
      const found = running.use((engine, at) => engine.txKvGet(name, at));
      if (found === undefined) return null;
      return { value: decodeJson(found.value) as T, version: found.version };
    },
    put: (key, value) => {
      const [name, bytes] = [keyName(key), encodeValue(value)];
      running.use((engine, at) => engine.kvPut(name, bytes, at));
    },
    delete: (key) => {
      const name = keyName(key);
      return running.use((engine, at) => engine.kvDelete(name, at));
    },
    list: <T>(options?: { prefix?: string; cursor?: string; limit?: number }) => {
      const request = readNameList(options);
      const page = running.use((engine, at) => engine.txKvList(request, at));
      return pageOf(
        page,
        ({ key, value, version }) => ({ key, value: decodeJson(value) as T, version }),
        ({ key }) => key,
      );
    },
  };
}

function makeQueue(running: Running, queue: FullName, defaults: QueueDefaults): TransactionQueue {
  return {
    enqueue: (payload, options) => {
      const request = readEnqueue(queue, defaults, payload, options, 'without writes');
      return enqueued(running.use((engine, at) => engine.queueEnqueue(request, at)));
    },
    get: (id) => {
      requireId(id);
      const found = running.use((engine, at) => engine.txGet(queue, id, at));
      return found === undefined ? null : taskRecord(queue.text, found, defaults.codec);
    },
    cancel: (id) => {
      requireId(id);
      return running.use((engine, at) => engine.queueCancel(queue, id, undefined, at));
    },
  };
}

/** Asks for a claim, which any object with an id and a token names. */
function claimGuard(
  task: unknown,
  call: (claim: ClaimReference, engine: Bridge, at: Moment) => Outcome<unknown>,
): Ask {
  const holder = readClaimHolder('task', task);
  const { queue } = claimQueue(task);
  if (queue !== undefined) {
    const claim = { ...holder, queue: queueOfTask(queue) };
    return (engine, at) => call(claim, engine, at);
  }
  return (engine, at) => {
    const found = engine.queueOf(holder.id);
    if (found === undefined) return GONE;
    try {
      return call({ ...holder, queue: queueOfTask(found) }, engine, at);
    } catch (error) {
      // Who may not settle it is not told that it is there.
      if (error instanceof FencepostError && error.code === 'PERMISSION_DENIED') return GONE;
      throw error;
    }
  };
}

function claimQueue(task: unknown): { queue?: unknown } {
  try {
    return { queue: (task as { queue?: unknown }).queue };
  } catch (error) {
    throw unreadable('task', error);
  }
}

/** A lease has a name, a task has an id. */
function readHolder(holder: unknown): Ask {
  try {
    return askFor(holder);
  } catch (error) {
    throw unreadable('holder', error);
  }
}

function askFor(holder: unknown): Ask {
  if (typeof holder !== 'object' || holder === null) {
    throw invalid('holder', 'a Task or a Lease', shown(holder));
  }
  const given: { queue?: unknown; id?: unknown; name?: unknown; token?: unknown } = holder;
  if (given.queue !== undefined || given.id !== undefined) {
    return claimGuard(holder, (claim, engine, at) => engine.txRequireClaim(claim, at));
  }
  if (given.name === undefined) throw invalid('holder', 'a Task or a Lease', shown(holder));
  const name = sharedName('holder.name', given.name);
  const token = requireWhole('holder.token', given.token, 0);
  return (engine, at) => engine.txRequireLease(name, token, at);
}
