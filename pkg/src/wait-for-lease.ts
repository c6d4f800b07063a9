/**
 * Waiting for a lease that somebody else holds.
 *
 * Of those who wait in one store, only the first in line tries; the others wait for their turn, and
 * whoever comes while they do joins the end. A call that does not wait tries at once.
 *
 * **Invariant**: a waiter that gave up is never granted: a signal that aborted is seen where the
 * grant is decided, and a grant that crossed it on its way is given back.
 *
 * **Invariant**: a waiter whose time is over tries once more, behind those who asked before it.
 */
import { onAbort } from './abort.js';
import { requireWhole } from './arguments.js';
import type { Waiter } from './line.js';
import { type AcquireRequest, type Bridge, type Moment, type Outcome, ROOT } from './requests.js';
import type { Session } from './session.js';

type Acquired = ReturnType<Bridge['leaseAcquire']>;

/** How long to wait: milliseconds from 0, or for ever. */
export function readWait(value: unknown): number {
  if (value === undefined) return 0;
  return value === Infinity ? Infinity : requireWhole('wait', value, 0);
}

export async function waitForLease(
  session: Session,
  request: AcquireRequest,
  { wait, signal }: { wait: number; signal: AbortSignal | undefined },
): Promise<Acquired> {
  const end = session.clock.monotonic() + wait;
  const { text } = request.name;
  if (wait > 0 && !session.lines.isEmpty(text) && !(await isMine(session, request))) {
    return new LeaseWaiter(session, request, { end, signal }).wait();
  }
  const outcome = await attempt(session, request, signal);
  if (outcome.ok || session.clock.monotonic() >= end) return outcome;
  return new LeaseWaiter(session, request, { end, signal }).wait();
}

/** Whoever holds the lease is granted it again, and need not stand in line for it. */
function isMine(session: Session, { name, owner }: AcquireRequest): Promise<boolean> {
  return session.read((engine, at) => {
    const row = engine.leaseStatus(name, { ...at, caller: ROOT });
    return row?.owner === owner && row.until > at.now;
  });
}

/** One try. Rejects with the signal's reason when that comes first. */
async function attempt(
  session: Session,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
): Promise<Acquired> {
  signal?.throwIfAborted();
  const { reply } = await session.command(
    (engine, at): Acquired =>
      signal?.aborted === true ? GAVE_UP : engine.leaseAcquire(request, at),
  );
  if (signal?.aborted !== true) return reply;
  if (reply.ok) {
    const { token } = reply.value;
    // Should this fail, it ends by itself: it was never anybody's.
    await session
      .command((engine, at) => engine.leaseRelease(request.name, token, at))
      .catch(() => undefined);
  }
  throw signal.reason;
}

const GAVE_UP: Outcome<never> = { ok: false, reason: 'held' };

class LeaseWaiter implements Waiter {
  readonly #session: Session;
  readonly #request: AcquireRequest;
  readonly #end: number;
  readonly #signal: AbortSignal | undefined;
  #wake: (() => void) | null = null;
  /** Woken while it was not asleep. */
  #isWoken = false;
  #isOver = false;
  #hasToTry = false;
  #whenTried: (() => void)[] = [];
  #stopFollowing: (() => void) | null = null;

  constructor(
    session: Session,
    request: AcquireRequest,
    { end, signal }: { end: number; signal: AbortSignal | undefined },
  ) {
    this.#session = session;
    this.#request = request;
    this.#end = end;
    this.#signal = signal;
  }

  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  tryNow(): Promise<void> {
    this.#hasToTry = true;
    this.wake();
    return new Promise((resolve) => {
      this.#whenTried.push(resolve);
    });
  }

  /** Joins the line, and leaves it with what came of it. */
  async wait(): Promise<Acquired> {
    const { lines, alarm } = this.#session;
    const { text } = this.#request.name;
    const expires = alarm.bell('keeps the process alive', () => this.wake());
    const over = alarm.bell('keeps the process alive', () => {
      this.#isOver = true;
      this.wake();
    });
    if (this.#end !== Infinity) over.ringAfter(this.#end - this.#session.clock.monotonic());
    const wake = () => this.wake();
    const stopWaiting = this.#session.onEnd(wake);
    const ignore = this.#signal === undefined ? undefined : onAbort(this.#signal, wake);
    lines.join(text, this);
    try {
      for (;;) {
        await this.#untilWorthATry((until) => expires.ringAt(until));
        if (this.#isOver && !this.#isFirst) await this.#letFirstTry();
        const isLast = this.#isOver;
        const outcome = await attempt(this.#session, this.#request, this.#signal);
        if (outcome.ok || isLast) return outcome;
        this.#tellTried();
      }
    } finally {
      expires.silence();
      over.silence();
      ignore?.();
      stopWaiting();
      this.#stopFollowing?.();
      lines.leave(text, this);
      this.#tellTried();
    }
  }

  get #isFirst(): boolean {
    return this.#session.lines.first(this.#request.name.text) === this;
  }

  /** Until it is its turn and the lease may be free, or the waiting has to end. */
  async #untilWorthATry(sleepUntil: (until: number) => void): Promise<void> {
    while (!this.#hasToEnd) {
      if (this.#isFirst && (this.#hasToTry || this.#mayBeFree(sleepUntil))) return;
      if (!this.#isWoken) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
      this.#isWoken = false;
    }
  }

  get #hasToEnd(): boolean {
    return this.#isOver || this.#signal?.aborted === true || !this.#session.isOpen;
  }

  #mayBeFree(sleepUntil: (until: number) => void): boolean {
    const { name, owner } = this.#request;
    // What others commit is followed from now on, and what they did before is found out at once.
    if (this.#stopFollowing === null) {
      this.#stopFollowing = this.#session.follow(`lease:${name.text}`, () => this.wake());
      return true;
    }
    const seen = this.#session.glance((engine: Bridge, at: Moment) => {
      const row = engine.leaseStatus(name, at);
      const isHeld = row?.owner !== undefined && row.owner !== owner && row.until > at.now;
      return { until: isHeld ? row.until : null };
    });
    if (seen === undefined || seen.until === null) return true;
    sleepUntil(seen.until);
    return false;
  }

  /** Both want it at the very same moment, perhaps: whoever asked first goes first. */
  async #letFirstTry(): Promise<void> {
    const first = this.#session.lines.first(this.#request.name.text);
    if (first !== undefined && first !== this) await first.tryNow();
  }

  #tellTried(): void {
    this.#hasToTry = false;
    const told = this.#whenTried;
    this.#whenTried = [];
    for (const tell of told) tell();
  }
}
