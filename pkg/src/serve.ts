/**
 * Works queues off inside of a Durable Object, which has no timers while it is out of memory: its
 * alarm stands in for them.
 *
 * ```text
 *   a commit, by whichever handle ──> arm: the alarm is set for what is due first
 *                                               │ rings
 *   arm: for the next one <── work off <── alarm()
 * ```
 *
 * **Invariant**: an alarm of the object's own is kept, and nothing rings for work that nobody takes
 * but after longer and longer pauses.
 *
 * **Invariant**: whatever was missed (an alarm lost with a crash between a commit and the arming)
 * is made up for when the object is next constructed, and by every commit.
 */
import { invalid, optionalWhole, readOptions, requireFunction } from './arguments.js';
import { usableGrid } from './cron.js';
import { shown } from './errors.js';
import type { DurableObjectContext } from './journal/durable-object.js';
import { watchStorage } from './journal/durable-object-journal.js';
import { timeOf } from './realm.js';
import { ZONE_DEFAULT } from './schedule-options.js';
import { SharedAlarm } from './shared-alarm.js';
import type { Handler, Queue, ScheduleRecord, Store, WorkOptions } from './types.js';

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 15 * 60_000;

/** One queue that is worked off, where a handler by the queue's name says too little. */
export interface Served {
  /** With its codec, or of an outbox. */
  queue: Queue;
  handler: Handler;
  /** How its worker works. */
  options?: WorkOptions;
}

export interface ServeOptions {
  /**
   * The object's own alarm: called when the time of `setAlarm` has come. When it throws, `alarm`
   * does too, and the runtime rings again. Default: none.
   */
  alarm?: () => unknown;
  /** Told when the alarm could not be set after a commit; the next one tries again. */
  onError?: (error: unknown) => void;
}

/** What the object's methods call. */
export interface Service {
  /** To be called by the object's `alarm`, with what that is given. Works off what is due. */
  alarm(invocation?: { scheduledTime?: number }): Promise<void>;
  /** Sets the object's own alarm, beside the store's. Replaces an earlier one. */
  setAlarm(time: number | Date): Promise<void>;
  /** The object's own alarm, in milliseconds since the Unix epoch, or null. */
  getAlarm(): Promise<number | null>;
  deleteAlarm(): Promise<void>;
  /** For when the alarm is set now, whoever wants it; null: for nothing. */
  armed(): Promise<number | null>;
  /** Sets no alarm any more; the one that is set stays. */
  stop(): void;
}

/**
 * Works queues of the object's store off whenever something is due: the object's alarm is set after
 * every commit, for the next task that may be claimed in these queues and for the next boundary of
 * a schedule. Called in the constructor; the object's `alarm` calls the service's.
 *
 * ```ts
 * constructor(ctx, env) {
 *   super(ctx, env)
 *   ctx.blockConcurrencyWhile(async () => {
 *     this.store = await open('outbox', { journal: durableObject(ctx) })
 *     this.service = serve(ctx, this.store, { deliveries: deliver })
 *   })
 * }
 *
 * alarm(invocation) {
 *   return this.service.alarm(invocation)
 * }
 * ```
 *
 * The alarm is shared: an alarm that the object sets itself by `service.setAlarm` calls the option
 * `alarm`. One set by `ctx.storage.setAlarm` is kept as well, but takes the place of the store's
 * until the next commit. What is due in a served queue and is not taken rings at once, then after
 * pauses from 1 s that double up to 15 minutes. Queues that are not served ring nothing, nor does
 * expiry.
 *
 * `handlers`: by the queue's name, or a list where a queue has a codec or options of its own.
 *
 * @throws FencepostError `INVALID_ARGUMENT` when `ctx` is no context of an object, or for a bad
 * handler or option
 */
export function serve(
  ctx: DurableObjectContext,
  store: Store,
  handlers: Readonly<Record<string, Handler>> | readonly Served[],
  options?: ServeOptions,
): Service {
  if (typeof (ctx as DurableObjectContext | null | undefined)?.storage?.setAlarm !== 'function') {
    throw invalid('ctx', 'the context of a Durable Object', shown(ctx));
  }
  const { alarm, onError } = readOptions('options', options, ['alarm', 'onError']);
  if (alarm !== undefined) requireFunction('options.alarm', alarm);
  if (onError !== undefined) requireFunction('options.onError', onError);
  return new AlarmService(ctx, store, readServed(store, handlers), {
    alarm: alarm as ServeOptions['alarm'],
    onError: onError as ServeOptions['onError'],
  });
}

interface Listeners {
  readonly alarm: ServeOptions['alarm'] | undefined;
  readonly onError: ServeOptions['onError'] | undefined;
}

class AlarmService implements Service {
  readonly #store: Store;
  readonly #served: readonly Served[];
  readonly #options: Listeners;
  readonly #shared: SharedAlarm;
  readonly #stop: () => void;
  /** What is done with the alarm, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #isArming = false;
  #isRinging = false;

  constructor(
    ctx: DurableObjectContext,
    store: Store,
    served: readonly Served[],
    options: Listeners,
  ) {
    this.#store = store;
    this.#served = served;
    this.#options = options;
    this.#shared = new SharedAlarm(ctx);
    this.#stop = watchStorage(ctx.storage, () => this.#armLater());
    this.#armLater();
  }

  async alarm(invocation?: { scheduledTime?: number }): Promise<void> {
    const at = invocation?.scheduledTime;
    this.#isRinging = true;
    try {
      const shared = await this.#inTurn(() => this.#shared.look(at === undefined ? {} : { at }));
      const isOwn = shared.own !== null && shared.own <= Date.now();
      const own = isOwn ? Promise.resolve().then(() => this.#options.alarm?.()) : null;
      // Whatever comes of the one, the other is done.
      const [taken, owned] = await Promise.allSettled([this.#workOff(), own]);
      if (owned.status === 'rejected') throw owned.reason;
      if (taken.status === 'rejected') throw taken.reason;
      await this.#inTurn(async () => {
        // It may have set the next one meanwhile.
        const now = await this.#shared.look();
        const rest = isOwn && now.own === shared.own ? { ...now, own: null } : now;
        await this.#shared.write(await this.#afterRing(rest, taken.value));
      });
    } finally {
      this.#isRinging = false;
    }
  }

  async setAlarm(time: number | Date): Promise<void> {
    const own = optionalWhole('time', timeOf(time) ?? time, 0);
    if (Number.isNaN(own)) throw invalid('time', 'a Date or milliseconds', shown(time));
    await this.#inTurn(async () => this.#shared.write({ ...(await this.#shared.look()), own }));
  }

  async getAlarm(): Promise<number | null> {
    return (await this.#inTurn(() => this.#shared.look())).own;
  }

  async deleteAlarm(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#shared.write({ ...(await this.#shared.look()), own: null });
    });
  }

  armed(): Promise<number | null> {
    return this.#arm();
  }

  stop(): void {
    this.#stop();
  }

  /** After a commit; several of one turn are one. */
  #armLater(): void {
    if (this.#isArming || this.#isRinging) return;
    this.#isArming = true;
    this.#arm().catch((error) => {
      new Promise((resolve) => resolve(this.#options.onError?.(error))).catch(() => undefined);
    });
  }

  #arm(): Promise<number | null> {
    return this.#inTurn(async () => {
      this.#isArming = false;
      const due = await this.#nextDue();
      const now = Date.now();
      const shared = await this.#shared.look();
      if (due > now) return this.#shared.write({ ...shared, store: orNull(due), idleRings: 0 });
      // What nobody took waits on; what is new is served at once.
      const waits = shared.idleRings > 0 && (shared.store ?? 0) > now;
      return this.#shared.write({ ...shared, store: waits ? shared.store : now + 1 });
    });
  }

  async #afterRing(shared: Awaited<ReturnType<SharedAlarm['look']>>, taken: number) {
    const due = await this.#nextDue();
    const now = Date.now();
    if (taken > 0 || due > now + PAUSE_MS_MIN) {
      return { ...shared, store: orNull(due), idleRings: 0 };
    }
    const idleRings = shared.idleRings + 1;
    return { ...shared, store: Math.max(due, now + pauseAfter(idleRings)), idleRings };
  }

  /** How many tasks were taken. */
  async #workOff(): Promise<number> {
    let taken = 0;
    const workers = this.#served.map(({ queue, handler, options }) =>
      queue.work((task, context) => {
        taken += 1;
        return handler(task, context);
      }, options),
    );
    try {
      await Promise.all(workers.map((worker) => worker.idle()));
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    return taken;
  }

  async #nextDue(): Promise<number> {
    const tasks = await Promise.all(this.#served.map(({ queue }) => queue.nextDue()));
    const schedules = (await this.#store.schedules.list()).filter(isFiredHere);
    const instants = [...tasks, ...schedules.map(({ next }) => next)];
    return Math.min(...instants.map((at) => at ?? Infinity));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** The first time at once: a schedule may have fired just as its queue was found empty. */
function pauseAfter(idleRings: number): number {
  if (idleRings === 1) return 1;
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(idleRings - 2, 20));
}

function orNull(due: number): number | null {
  return due === Infinity ? null : due;
}

function isFiredHere({ when }: ScheduleRecord): boolean {
  if (!('cron' in when)) return true;
  const { cron: expression, timeZone = ZONE_DEFAULT } = when;
  return usableGrid({ expression, timeZone }) !== undefined;
}

function readServed(store: Store, handlers: unknown): Served[] {
  if (Array.isArray(handlers)) return handlers.map(readOne);
  if (typeof handlers !== 'object' || handlers === null) {
    throw invalid('handlers', 'handlers by queue, or a list', shown(handlers));
  }
  return Object.entries(handlers).map(([name, handler]) => ({
    queue: store.queue(name),
    handler: requireHandler(`handlers.${name}`, handler),
  }));
}

function readOne(value: unknown, index: number): Served {
  const argument = `handlers[${index}]`;
  const { queue, handler, options } = readOptions(argument, value, ['queue', 'handler', 'options']);
  if (typeof (queue as Partial<Queue> | null | undefined)?.work !== 'function') {
    throw invalid(`${argument}.queue`, 'a queue of the store', shown(queue));
  }
  return {
    queue: queue as Queue,
    handler: requireHandler(`${argument}.handler`, handler),
    ...(options !== undefined && { options: options as WorkOptions }),
  };
}

function requireHandler(argument: string, handler: unknown): Handler {
  requireFunction(argument, handler);
  return handler as Handler;
}
