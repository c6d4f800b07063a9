/**
 * `store.events()`: what the journal still has after a version, then what happens.
 *
 * ```text
 *  from ──replay, entry by entry──> level with the store ──live──> … until abort, close or break
 *            ^ reads on ──┘ still behind
 * ```
 *
 * **Invariant**: no event twice, none left out without a `gap`. The replay hands over to the live
 * events inside the step in which it reads the journal's end: the store cannot be beyond it there.
 *
 * While it replays, the reader sets the pace. Live events wait in a bounded buffer. Until somebody
 * reads nothing waits: what happened since the call is replayed then.
 */
import { onAbort } from './abort.js';
import { optionalSignal, optionalWhole, readOptions } from './arguments.js';
import { Breath } from './breath.js';
import type { News } from './journal/journal.js';
import type { Replay } from './replay.js';
import type { Session } from './session.js';
import { EventStream } from './stream.js';
import type { EventsOptions, StoreEvent } from './types.js';

/** What is left is replayed at once, and the live events take over. Far fewer than are buffered. */
const HANDOVER_BYTES_MAX = 256 << 10;

/** @throws FencepostError `INVALID_ARGUMENT`, `STORE_CLOSED` */
export function listenToEvents(
  session: Session,
  options: EventsOptions | undefined,
): AsyncIterable<StoreEvent> {
  session.requireOpen();
  const { from, signal } = readOptions('options', options, ['from', 'signal']);
  const version = optionalWhole('from', from, 0);
  return new Subscription(session, version, optionalSignal(signal)).stream;
}

class Subscription {
  readonly stream: EventStream;
  readonly #session: Session;
  readonly #signal: AbortSignal | undefined;
  /** The version after which it begins. */
  readonly #from: number;
  readonly #breath = new Breath();
  #hasBegun = false;
  readonly #stops: (() => void)[] = [];
  #replay: Replay | null = null;
  #isLive = false;
  #isReading = false;

  /** `from`: `NaN` is from now on. */
  constructor(session: Session, from: number, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#signal = signal;
    this.#from = Number.isNaN(from) ? session.version : from;
    this.stream = new EventStream({
      onReader: () => this.#listen(),
      onHungry: () => void this.#readOn(),
      onEnd: () => this.#stop(),
    });
  }

  /** Not before somebody reads: a loop that never comes costs nothing. */
  #listen(): void {
    if (this.#hasBegun || this.stream.isEnded) return;
    this.#hasBegun = true;
    const [session, signal] = [this.#session, this.#signal];
    const end = () => {
      if (session.failure !== null) this.stream.fail(session.failure);
      else if (!session.isOpen) this.stream.end();
    };
    end();
    if (this.stream.isEnded) return;
    this.#stops.push(session.follow('nothing', end));
    if (signal !== undefined) {
      this.#stops.push(onAbort(signal, () => this.stream.drop()));
      if (signal.aborted) this.stream.drop();
    }
    if (this.#from !== session.version) return;
    this.#goLive(session.version);
    // What others committed before they were followed; should it fail, the follower looks again.
    session.read(() => undefined).catch(() => undefined);
  }

  /** Everything after `told` comes as it happens. */
  #goLive(told: number): void {
    if (this.#isLive || this.stream.isEnded) return;
    this.#isLive = true;
    this.#stops.push(this.#session.listen(told, (events) => this.stream.push(events)));
  }

  #stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#endReplay();
  }

  #endReplay(): void {
    this.#replay?.free();
    this.#replay = null;
  }

  async #readOn(): Promise<void> {
    if (this.#isLive || this.#isReading || this.stream.isEnded) return;
    this.#isReading = true;
    try {
      if (this.#replay === null) await this.#begin();
      while (!this.#isLive && this.stream.isHungry) {
        await this.#breath.due(this.#session.clock.monotonic());
        await this.#replaySome();
      }
    } catch (error) {
      this.stream.fail(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #begin(): Promise<void> {
    const { stream } = this;
    await this.#session.read(({ version, time }) => {
      if (this.#isLive || this.#from < version) return;
      this.#goLive(version);
      if (this.#from > version) stream.push([{ version, at: time, type: 'gap' }]);
    });
    if (!this.#isLive && !stream.isEnded) this.#replay = this.#session.replay(this.#from);
  }

  async #replaySome(): Promise<void> {
    const replay = this.#replay;
    if (replay === null) return;
    if (!replay.isAtEnd) {
      this.stream.push(replay.step());
      return;
    }
    await this.#session.readJournal(replay.slot, (news, slot) => {
      if (!this.stream.isEnded) this.#accept(replay, news, slot);
    });
    await replay.load();
  }

  /** `slot`: where the store is. */
  #accept(replay: Replay, news: News, slot: number): void {
    replay.accept(news);
    if (replay.bytesLeft > HANDOVER_BYTES_MAX) return;
    while (!replay.isAtEnd) this.stream.push(replay.step());
    if (replay.slot < slot) return;
    this.#goLive(replay.version);
    this.#endReplay();
  }
}
