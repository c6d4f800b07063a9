/**
 * The one place that sequences the journal: decide, append, merge.
 *
 * ```text
 *  waiting ──take──> group ──commit──> decided on the newest entry ──stored──> merged, settled
 *     ^               └── not stored: all reject · unclear: read again ──lost──┐
 *     └──────────────────────── decide again ──────────────────────────────────┘
 * ```
 *
 * Everything that arrives while a commit is under way waits and is decided together, in the order
 * of the calls: one entry for all of it. Questions read the journal's tail first and store
 * nothing.
 *
 * **Invariant**: one proposal at a time. While the outcome of one is unknown, the same bytes go to
 * the same slot, or nothing does.
 *
 * **Invariant**: a stale decision is never patched. With news everything is decided from the start.
 */

import { Alarm } from './alarm.js';
import { Breath } from './breath.js';
import { CallSite } from './call-site.js';
import { type LogClock, TIMER_MAX, type Timer } from './clock.js';
import {
  isOfTheLog,
  knowsNothingStored,
  noAnswer,
  outcomeUnknown,
  storeClosed,
  toldAgain,
  typed,
  typedNews,
  unavailable,
} from './committer-errors.js';
import { Compactor } from './compactor.js';
import { contextOf, type RunIn } from './context.js';
import type { FencepostError } from './errors.js';
import { Follower } from './follower.js';
import { commitOrBehind, loadInTime } from './intake.js';
import type { Entry, Journal, News, Slot } from './journal/journal.js';
import { type Answer, type Decide, type Kind, Pending } from './pending.js';
import { Readings } from './readings.js';
import { Crash, type Replica } from './replica.js';
import type { CallerRequest } from './requests.js';
import { Round, takeGroup } from './round.js';
import { resolveUnknown } from './unknown.js';
import { type Topic, Wakes } from './wakes.js';

export interface CommitterParts {
  readonly journal: Journal;
  readonly replica: Replica;
  readonly clock: LogClock;
  /** Bounds every journal operation, in milliseconds. */
  readonly timeout: number;
  /** Entries of less weight are not compacted. Default 1 MiB. */
  readonly compactBytesMin?: number | undefined;
  /** Captures the context of a call. Default: as the runtime does. */
  readonly capture?: () => RunIn;
}

export class Committer {
  readonly journal: Journal;
  readonly replica: Replica;
  readonly clock: LogClock;
  readonly alarm: Alarm;
  readonly compactor: Compactor;
  readonly follower: Follower;
  /** Captures the context of whoever calls. */
  readonly capture: () => RunIn;
  readonly #run: RunIn;
  readonly #timeout: number;
  #waiting: Pending[] = [];
  #round: Round | null = null;
  #running = false;
  #deadline: Timer | null = null;
  #closing: Promise<void> | null = null;
  #isClosed = false;
  readonly #wakes = new Wakes();
  readonly #breath = new Breath();
  readonly #callers = new FinalizationRegistry((caller: CallerRequest) => {
    this.replica.forget(caller);
  });
  /** What ended the store for good, while it was open. */
  #failure: FencepostError | null = null;
  readonly #readings = new Readings();
  #whenSettled: (() => void)[] = [];

  constructor({ journal, replica, clock, timeout, compactBytesMin, capture }: CommitterParts) {
    this.capture = capture ?? contextOf();
    this.#run = this.capture();
    this.journal = journal;
    this.replica = replica;
    this.clock = clock;
    this.alarm = new Alarm(clock);
    this.compactor = new Compactor(journal, replica, compactBytesMin);
    this.follower = new Follower(this);
    this.#timeout = timeout;
  }

  /** False as soon as closing begins, and when the store has ended for good. */
  get isOpen(): boolean {
    return this.#closing === null && this.#failure === null;
  }

  /** Why it has ended without being closed: what everybody is told from then on. */
  get failure(): FencepostError | null {
    return this.#failure === null ? null : toldAgain(this.#failure);
  }

  /** Whether no proposal is under way, so that the engine may stage something. */
  get isIdle(): boolean {
    return !this.#running;
  }

  /** Queues a command or a question. Rejects with an error whose stack is that of the caller. */
  ask<T>(kind: Kind, caller: CallerRequest | undefined, decide: Decide<T>): Promise<Answer<T>> {
    this.requireOpen();
    if (this.#failure !== null) return Promise.reject(toldAgain(this.#failure));
    const pending = new Pending(kind, decide, caller, {
      site: new CallSite(this.ask),
      since: this.clock.monotonic(),
    });
    this.#waiting.push(pending);
    this.#start();
    // The trap: behind a call that hangs, all of whose commands were told, nobody else sets it.
    this.#armDeadline();
    return pending.promise as Promise<Answer<T>>;
  }

  /** Reads what is new. */
  async sync(): Promise<number> {
    return (await this.ask('question', undefined, () => undefined)).version;
  }

  /**
   * Shows what the journal has after a slot, for whoever replays it: together with the slot at
   * which this store is in that moment. May show it in several parts. Stores nothing.
   */
  async readJournal(after: Slot, look: (news: News, slot: Slot) => void): Promise<void> {
    this.requireOpen();
    if (this.#failure !== null) throw toldAgain(this.#failure);
    const show = (news: News) => look(news, this.replica.knownSlot);
    await this.within('read', this.#readings.read(this.journal, after, show));
  }

  /** Takes over what begins with a snapshot; false: the journal is to be asked again. */
  async load(news: News): Promise<boolean> {
    const isLoaded = await loadInTime(this.replica, news, this.within.bind(this));
    if (isLoaded) this.clock.observe(this.replica.time);
    return isLoaded;
  }

  /** Looks at what is merged, now. Undefined when the engine crashed; it is rebuilt then. */
  peek<T>(caller: CallerRequest | undefined, look: Decide<T>): T | undefined {
    if (this.#failure !== null) throw toldAgain(this.#failure);
    try {
      const at = { now: this.clock.now(), caller: this.replica.numberOf(caller) };
      return this.replica.use((engine) => look(engine, at));
    } catch (error) {
      if (error instanceof Crash) return undefined;
      throw error;
    }
  }

  /** Calls `wake` when what it waits for was merged. Returns the way to stop it. */
  onMerged(topic: Topic, wake: () => void): () => void {
    return this.#wakes.on(topic, wake);
  }

  /** Forgets the caller when nobody has its session any more. */
  forgetWith(session: object, caller: CallerRequest): void {
    this.#callers.register(session, caller);
  }

  /** For making handles: those of a store that ended for good are made, and every call rejects. */
  requireOpen(): void {
    if (this.#closing !== null) throw storeClosed();
  }

  /** Idempotent. Waits for everything that was accepted, then lets the journal go. */
  close(): Promise<void> {
    if (this.#closing === null) {
      this.#closing = this.#close();
      this.#tellEnded();
    }
    return this.#closing;
  }

  /**
   * The one place that ends a store because of its journal: it is another log, damaged, or of a
   * later format. Asking again would not change that, so nobody does.
   */
  #fail(error: FencepostError): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    for (const pending of this.#waiting.splice(0)) pending.reject(error);
    this.#readings.abandon(error);
    if (this.#closing === null) this.#tellEnded();
  }

  /** Whoever waits for something else to happen learns that it will not. */
  #tellEnded(): void {
    this.alarm.review();
    this.#wakes.tell(null);
  }

  async #close(): Promise<void> {
    while (this.#waiting.length > 0 || this.#round?.isSettled === false) {
      await new Promise<void>((resolve) => {
        this.#whenSettled.push(resolve);
      });
    }
    this.#isClosed = true;
    this.#readings.abandon(storeClosed());
    try {
      await this.within(
        'close',
        this.compactor.idle().then(() => this.journal.close()),
      );
    } finally {
      if (!this.#running) this.replica.free();
    }
  }

  /**
   * Waits for the journal, as long as it may take; `wait` is what it may take longer, in
   * milliseconds.
   *
   * @throws FencepostError `JOURNAL_UNAVAILABLE` when it takes longer, or fails for no stated
   * reason
   */
  async within<T>(what: string, operation: Promise<T>, wait = 0): Promise<T> {
    let timer: Timer | undefined;
    const patience = Math.min(this.#timeout + wait, TIMER_MAX);
    const late = new Promise<never>((_, reject) => {
      const expire = () =>
        reject(unavailable(`${what}: no answer within ${patience} ms; a full disk may be why`));
      if (wait !== Number.POSITIVE_INFINITY) timer = this.clock.setTimer(patience, expire);
    });
    try {
      return await Promise.race([operation, late]);
    } catch (error) {
      throw typed(error, what);
    } finally {
      timer?.cancel();
    }
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run(() => this.#loop());
  }

  async #loop(): Promise<void> {
    // The trap: without this turn the first of many calls in a row would make an entry of its own.
    await null;
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const turn = this.#breath.due(this.clock.monotonic());
      if (turn !== null) await turn;
      const round = new Round(takeGroup(this.#waiting));
      this.#round = round;
      this.#armDeadline();
      await this.#serve(round).catch((error: unknown) => this.#reject(round, error));
      this.#waiting = [...round.unfinished(), ...this.#waiting];
      this.#round = null;
      this.#tellSettled();
    }
    this.#running = false;
    this.#deadline?.cancel();
    this.#deadline = null;
    if (this.#isClosed) this.replica.free();
  }

  async #serve(round: Round): Promise<void> {
    const before = this.replica.version;
    try {
      while (!(await this.#commit(round))) if (this.#isClosed) this.requireOpen();
      this.#merge(round);
    } catch (error) {
      await this.#recover(round, error);
      this.replica.forgetProposal();
    }
    // A crash may have come between: what was stored is merged by whoever asks next.
    if (this.replica.version !== before || !this.replica.isUsable) this.#tellMerged();
  }

  /** Whether it was decided. What the journal shows may have to be loaded first. */
  async #commit(round: Round): Promise<boolean> {
    this.replica.rebuild();
    const behind = await commitOrBehind(this.journal, this.replica.slot, (news) => {
      return this.#decide(round, news);
    });
    if (behind === null) return true;
    await this.load(behind);
    this.compactor.leave();
    return false;
  }

  /** Decides a group on the newest entry. Called again when another writer was first. */
  #decide(round: Round, news: News): Entry | null {
    round.begin();
    try {
      if (this.#isClosed) this.requireOpen();
      this.replica.accept(news);
      if (news.entries.length > 0) this.compactor.leave();
      this.clock.observe(this.replica.time);
      return round.decide(this.replica, this.clock.now());
    } catch (thrown) {
      const error = thrown instanceof Crash ? thrown : typedNews(thrown);
      round.fault = { error };
      throw error;
    }
  }

  /** The journal has it. */
  #merge(round: Round): void {
    const { sealed } = round;
    if (sealed !== null) {
      try {
        this.replica.mergeSealed(sealed.bytes.byteLength);
        this.clock.observe(this.replica.time);
      } catch (error) {
        // It is stored: the next round rebuilds the engine and finds it in the journal.
        if (!(error instanceof Crash)) throw error;
      }
    }
    round.settle();
    if (sealed !== null && this.replica.isUsable) this.compactor.consider();
  }

  async #recover(round: Round, error: unknown): Promise<void> {
    const thrown = round.fault === null ? error : round.fault.error;
    if (thrown instanceof Crash) return round.blame(thrown);
    if (round.fault !== null) return this.#reject(round, thrown);
    if (knowsNothingStored(error) || round.sealed === null) {
      const told = typed(error, 'commit');
      round.rejectUnsent(told);
      if (isOfTheLog(told)) this.#fail(told);
      return;
    }
    await this.#resolve(round, round.sealed, error);
  }

  async #resolve(round: Round, sealed: NonNullable<Round['sealed']>, cause: unknown) {
    try {
      const landed = await resolveUnknown(sealed, {
        journal: this.journal,
        replica: this.replica,
        clock: this.clock,
        isOver: () => this.#isClosed,
      });
      this.clock.observe(this.replica.time);
      if (landed) round.settle();
    } catch (error) {
      if (error instanceof Crash) round.rejectSent(outcomeUnknown(cause));
      else this.#reject(round, error);
    }
  }

  #reject(round: Round, error: unknown): void {
    round.reject(error);
    if (isOfTheLog(error)) this.#fail(error);
  }

  #tellMerged(): void {
    this.alarm.review();
    this.#wakes.tell(this.#wakes.arePicky ? this.replica.touched() : null);
  }

  #tellSettled(): void {
    const waiting = this.#whenSettled;
    this.#whenSettled = [];
    for (const resolve of waiting) resolve();
  }

  #armDeadline(): void {
    if (this.#deadline !== null) return;
    const oldest = this.#round?.oldest ?? this.#waiting[0];
    if (oldest === undefined) return;
    const left = oldest.since + this.#timeout - this.clock.monotonic();
    this.#deadline = this.clock.setTimer(Math.max(0, Math.ceil(left)), () => {
      this.#deadline = null;
      this.#expire();
    });
  }

  /** Whoever waited too long is told what is known. */
  #expire(): void {
    const latest = this.clock.monotonic() - this.#timeout;
    const isLate = ({ since }: Pending) => since <= latest;
    const late = unavailable(noAnswer(this.#timeout));
    this.#round?.rejectSome(isLate, { unsent: late, unknown: outcomeUnknown(late) });
    for (const pending of this.#waiting.filter(isLate)) pending.reject(late);
    this.#waiting = this.#waiting.filter((pending) => !pending.isSettled);
    this.#armDeadline();
    this.#tellSettled();
  }
}
