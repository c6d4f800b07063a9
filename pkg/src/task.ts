/**
 * A claimed task: what its owner may do with it.
 *
 * **Invariant**: the object follows what its own successful calls changed, and nothing else.
 * Whether the claim is still held is asked in the very commit that depends on it.
 */
import { invalid, optionalWhole, readOptions, requireWhole, unreadable } from './arguments.js';
import { decodeJson, optionalJson, type RowCodec, requireSameCodec } from './codec.js';
import { shown } from './errors.js';
import { INSPECT, printed } from './inspect.js';
import { failRequest, readDelay, readFollowUps } from './options.js';
import type { Answer } from './pending.js';
import type { ClaimReference, EnqueuedReply, FullName, Outcome, TaskReply } from './requests.js';
import type { Session } from './session.js';
import type {
  ClaimHolder,
  Committed,
  Enqueued,
  FollowUp,
  Refused,
  Task,
  TaskState,
  Write,
} from './types.js';
import { readWrites } from './writes.js';

/** What a task needs of its queue. */
export interface TaskHome {
  readonly session: Session;
  readonly queue: FullName;
  readonly codec: RowCodec;
}

export class ClaimedTask implements Task {
  readonly id: number;
  readonly queue: string;
  readonly priority: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly token: number;
  readonly owner: string;
  readonly enqueuedAt: number;
  declare readonly key?: string;
  declare readonly lastError?: string;
  declare readonly boundary?: number;
  declare readonly payload: unknown;
  declare readonly progress?: unknown;
  deadline: number;
  readonly #home: TaskHome;
  readonly #reply: TaskReply;
  #payload: { value: unknown } | null = null;
  #progress: Uint8Array | undefined;

  constructor(home: TaskHome, reply: TaskReply) {
    this.#home = home;
    this.#reply = reply;
    this.id = reply.id;
    this.queue = home.queue.text;
    this.priority = reply.priority;
    this.attempt = reply.attempt;
    this.maxAttempts = reply.maxAttempts;
    this.token = reply.token ?? 0;
    this.owner = reply.owner ?? '';
    this.enqueuedAt = reply.createdAt;
    this.deadline = reply.deadline ?? 0;
    this.#progress = reply.progress;
    const { key, lastError, boundary } = reply;
    if (key !== undefined) this.key = key;
    if (lastError !== undefined) this.lastError = lastError;
    if (boundary !== undefined) this.boundary = boundary;
    Object.defineProperties(this, ClaimedTask.#DECODED);
  }

  /** Own properties, so that a copy of the object and its JSON have them; one pair for all. */
  static readonly #DECODED: PropertyDescriptorMap & ThisType<ClaimedTask> = {
    payload: {
      enumerable: true,
      get() {
        return this.#decoded();
      },
    },
    progress: {
      enumerable: true,
      get() {
        return this.#progress === undefined ? undefined : decodeJson(this.#progress);
      },
    },
  };

  #decoded(): unknown {
    if (this.#payload === null) {
      requireSameCodec(this.#home.codec, this.#reply.codec);
      this.#payload = { value: this.#home.codec.decode(this.#reply.payload) };
    }
    return this.#payload.value;
  }

  [INSPECT](_: number, options: unknown, print: Parameters<typeof printed>[3]): string {
    return printed('Task', this, options, print);
  }

  async complete(
    result?: unknown,
    options?: { followUps?: FollowUp[]; writes?: Write[] },
  ): Promise<Committed<{ followUps: Enqueued[] }> | Refused> {
    const { followUps, writes } = readOptions('options', options, ['followUps', 'writes']);
    const { queue, id, token } = this.#reference();
    const request = {
      queue,
      id,
      token,
      result: this.#encode(result),
      followUps: readFollowUps(followUps, (queue) => this.#home.session.declared.of(queue)),
      writes: readWrites(writes),
    };
    const answer = await this.#home.session.command((engine, at) =>
      engine.queueComplete(request, at),
    );
    return committed(answer, (all) => ({ followUps: all.map(enqueued) }));
  }

  async fail(
    error?: unknown,
    options?: { delay?: number; final?: boolean; writes?: Write[] },
  ): Promise<Committed<{ state: TaskState; runAt?: number }> | Refused> {
    const given = readOptions('options', options, ['delay', 'final', 'writes']);
    const request = { ...this.#reference(), ...failRequest(error, given) };
    return committed(
      await this.#home.session.command((engine, at) => engine.queueFail(request, at)),
      (value) => value,
    );
  }

  async heartbeat(options?: {
    extend?: number;
    progress?: unknown;
  }): Promise<Committed<{ deadline: number }> | Refused> {
    const { extend, progress } = readOptions('options', options, ['extend', 'progress']);
    const { queue, id, token } = this.#reference();
    const request = {
      queue,
      id,
      token,
      extend: optionalWhole('extend', extend, 1),
      progress: optionalJson(progress, 'progress'),
    };
    const answer = await this.#home.session.command((engine, at) =>
      engine.queueHeartbeat(request, at),
    );
    return committed(answer, (deadline) => {
      this.deadline = deadline;
      if (request.progress !== undefined) this.#progress = request.progress;
      return { deadline };
    });
  }

  async release(options?: { delay?: number }): Promise<Committed | Refused> {
    const delay = readDelay(readOptions('options', options, ['delay']).delay);
    const claim = this.#reference();
    return committed(
      await this.#home.session.command((engine, at) => engine.queueRelease(claim, delay, at)),
      () => undefined,
    );
  }

  #reference(): ClaimReference {
    return { queue: this.#home.queue, id: this.id, token: this.token };
  }

  #encode(result: unknown): Uint8Array | undefined {
    if (result === undefined) return undefined;
    requireSameCodec(this.#home.codec, this.#reply.codec);
    return this.#home.codec.encode(result, 'result');
  }

  /** A result of any task: by the codec of the task itself, where this class made it. */
  static encode(task: object, result: unknown, otherwise: () => RowCodec): Uint8Array | undefined {
    if (result === undefined) return undefined;
    return #home in task ? task.#encode(result) : otherwise().encode(result, 'result');
  }
}

/** An engine's answer to a command that may be refused, as users see it. */
export function committed<T, U>(
  { reply, version }: Answer<Outcome<T>>,
  read: (value: T) => U,
): Committed<U> | Refused {
  if (!reply.ok) return reply;
  return { ok: true, value: read(reply.value), version };
}

/** The state is left out where the caller may not know it. */
export function enqueued({ id, seq, created, state }: EnqueuedReply): Enqueued {
  return state === undefined ? { id, seq, created } : { id, seq, created, state };
}

/** Any object with an id and a token names a claim. */
export function readClaimHolder(argument: string, value: unknown): { id: number; token: number } {
  if (typeof value !== 'object' || value === null) {
    throw invalid(argument, 'an object with id and token', shown(value));
  }
  try {
    const { id, token } = value as Partial<ClaimHolder>;
    return {
      id: requireWhole(`${argument}.id`, id, 0),
      token: requireWhole(`${argument}.token`, token, 0),
    };
  } catch (error) {
    throw unreadable(argument, error);
  }
}
