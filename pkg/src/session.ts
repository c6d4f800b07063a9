/**
 * What the handles of a store talk to: its committer, on behalf of one caller.
 *
 * **Invariant**: a session has no way to another caller's rights. Closing it ends its handles only.
 */
import type { Alarm } from './alarm.js';
import type { LogClock } from './clock.js';
import type { Committer } from './committer.js';
import type { RunIn } from './context.js';
import { Declared } from './declared.js';
import { FencepostError } from './errors.js';
import type { News, Slot } from './journal/journal.js';
import { Lines } from './line.js';
import type { Answer, Decide } from './pending.js';
import { Replay } from './replay.js';
import { Crash } from './replica.js';
import type { CallerRequest, FullName, NameArgument } from './requests.js';
import type { StoreEvent } from './types.js';
import type { Topic } from './wakes.js';

export class Session {
  readonly #committer: Committer;
  readonly #caller: CallerRequest | undefined;
  readonly #waiting = new Set<() => void>();
  /** How tasks of a queue are stamped and encoded where no handle says so. */
  readonly declared: Declared;
  /** Who waits for which lease, in all sessions of the store. */
  readonly lines: Lines;
  #isClosed = false;

  constructor(
    committer: Committer,
    caller?: CallerRequest,
    declared: Declared = new Declared(),
    lines: Lines = new Lines(),
  ) {
    this.#committer = committer;
    this.#caller = caller;
    this.declared = declared;
    this.lines = lines;
  }

  /** Another session of the same store, with the rights of `caller`. */
  restrict(caller: CallerRequest): Session {
    return new Session(this.#committer, caller, this.declared, this.lines);
  }

  /** Decides on the newest entry, and stores what that changes. */
  command<T>(decide: Decide<T>): Promise<Answer<T>> {
    this.requireOpen();
    return this.#committer.ask('command', this.#caller, decide);
  }

  /** The same, as the first command of its entry: nothing is staged before it. */
  alone<T>(decide: Decide<T>): Promise<Answer<T>> {
    this.requireOpen();
    return this.#committer.ask('lone command', this.#caller, decide);
  }

  /** Answers from everything that was acknowledged before. */
  async read<T>(look: Decide<T>): Promise<T> {
    this.requireOpen();
    return (await this.#committer.ask('question', this.#caller, look)).reply;
  }

  /** Looks at what is merged here. Undefined when there is no answer at the moment. */
  peek<T>(look: Decide<T>): T | undefined {
    this.requireOpen();
    return this.#committer.peek(this.#caller, look);
  }

  /** The same for the store itself: to know when to ask again, never to be shown. */
  glance<T>(look: Decide<T>): T | undefined {
    return this.isOpen ? this.#committer.peek(undefined, look) : undefined;
  }

  get clock(): LogClock {
    return this.#committer.clock;
  }

  get alarm(): Alarm {
    return this.#committer.alarm;
  }

  /** Captures the context of whoever calls, for what is called later on its behalf. */
  capture(): RunIn {
    return this.#committer.capture();
  }

  /** Calls `wake` when what it waits for was merged, and when the session ends. */
  onMerged(topic: Topic, wake: () => void): () => void {
    return this.#until(wake, this.#committer.onMerged(topic, wake));
  }

  /** The same, and other writers are followed meanwhile. */
  follow(topic: Topic, wake: () => void): () => void {
    return this.#until(wake, this.#committer.follower.follow(topic, wake));
  }

  /** Calls `wake` when the session ends. */
  onEnd(wake: () => void): () => void {
    const wakeAtEnd = () => {
      if (!this.isOpen) wake();
    };
    return this.#until(wakeAtEnd, this.#committer.onMerged('nothing', wakeAtEnd));
  }

  /** Why the store has ended without being closed; null while it has not. */
  get failure(): FencepostError | null {
    return this.#isClosed ? null : this.#committer.failure;
  }

  /** Of the newest command that is merged here. */
  get version(): number {
    return this.#committer.replica.version;
  }

  /** Takes the events of what is merged here after a version. Returns the way to stop it. */
  listen(told: number, take: (events: StoreEvent[]) => void): () => void {
    return this.#committer.replica.listen({ caller: this.#caller, told, take });
  }

  /** Tells what the journal has after a version, as it is given it. */
  replay(from: number): Replay {
    const { replica } = this.#committer;
    const create = () => replica.createEngine();
    return new Replay({ create, logId: replica.logId, caller: this.#caller, from });
  }

  /** Shows what the journal has after a slot, and where this store is in that moment. */
  readJournal(after: Slot, look: (news: News, slot: Slot) => void): Promise<void> {
    this.requireOpen();
    return this.#committer.readJournal(after, look);
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#committer.isOpen;
  }

  /** @throws FencepostError `STORE_CLOSED` */
  requireOpen(): void {
    if (this.#isClosed) throw new FencepostError('STORE_CLOSED', 'the store is closed');
    this.#committer.requireOpen();
  }

  /** @throws FencepostError `INVALID_NAME`, `RESERVED_NAME` */
  checkName(argument: NameArgument, name: FullName): void {
    try {
      this.#committer.replica.use((engine) => engine.checkName(argument, name));
    } catch (error) {
      // The operations on the name check it again.
      if (!(error instanceof Crash)) throw error;
    }
  }

  /** @throws FencepostError `PERMISSION_DENIED` unless a worker may claim and settle there */
  requireWork(queue: FullName): void {
    if (this.failure === null) this.peek((engine, at) => engine.queueMayWork(queue, at));
  }

  #until(wake: () => void, stop: () => void): () => void {
    this.#waiting.add(wake);
    // The trap: it may have ended while the waiter still asked whether it has to wait.
    if (!this.isOpen) queueMicrotask(wake);
    return () => {
      stop();
      this.#waiting.delete(wake);
    };
  }

  /** Ends the handles of a restricted store. */
  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const wake of [...this.#waiting]) wake();
    const caller = this.#caller;
    if (caller === undefined) return;
    // The trap: one of the caller's own transactions may be what calls this, with its number in
    // use.
    queueMicrotask(() => this.#committer.replica.forget(caller));
  }
}
