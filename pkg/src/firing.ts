/**
 * Fires the schedules of a store. Any replica may: firing moves the schedule on in the same commit,
 * so whoever is second finds nothing due.
 *
 * The engine works the boundaries of `every` and `at` out. Those of `cron` are worked out here, on
 * the entry that the firing is decided on, and handed to it.
 *
 * **Invariant**: a `cron` that this runtime cannot work out (an unknown time zone) is left to other
 * replicas, looked at again only after a while, and told once by name.
 */
import type { Committer } from './committer.js';
import { hindranceOf, usableGrid } from './cron.js';
import { FencepostError, quote } from './errors.js';
import { type Bridge, FAMILY, ROOT } from './requests.js';
import type { CronReply } from './requests-schedule.js';

const LOOK_AGAIN_MS = 30_000;

export class Firing {
  readonly #committer: Committer;
  /** In the time of the log: when `cron` schedules are looked at again that could not be fired. */
  #lookAgainAt = 0;
  readonly #onError: (error: FencepostError) => void;
  /** Schedules of which it was told that they are not fired here. */
  #told = new Set<string>();

  constructor(committer: Committer, onError: (error: FencepostError) => void) {
    this.#committer = committer;
    this.#onError = onError;
  }

  /** When a boundary comes that is to be fired here. */
  nextDue(engine: Bridge): number | undefined {
    const { nextDue, nextCron } = engine;
    if (nextCron === undefined) return nextDue;
    const blockedUntil = this.#blockedUntil(this.#committer.clock.now());
    return Math.min(nextDue ?? Infinity, Math.max(nextCron, blockedUntil));
  }

  /** Whether there is something to fire; stages it. */
  finds(engine: Bridge, now: number): boolean {
    if (engine.fireDue(now).tasks > 0 || engine.stagedCommands > 0) return true;
    return this.#cronIsDue(engine, now);
  }

  #cronIsDue({ nextCron }: Bridge, now: number): boolean {
    return nextCron !== undefined && Math.max(nextCron, this.#blockedUntil(now)) <= now;
  }

  /** A wait that is longer than any began before the clock was set back. */
  #blockedUntil(now: number): number {
    return this.#lookAgainAt > now + LOOK_AGAIN_MS ? 0 : this.#lookAgainAt;
  }

  /** Fires everything that is due, over as many commits as it takes. */
  async fire(): Promise<void> {
    const committer = this.#committer;
    let more = true;
    while (more && committer.isOpen) {
      const { reply } = await committer.ask('command', undefined, (engine, { now }) =>
        engine.fireDue(now),
      );
      more = reply.more;
    }
    await this.#fireCrons();
  }

  async #fireCrons(): Promise<void> {
    const committer = this.#committer;
    const isDue = (engine: Bridge) => this.#cronIsDue(engine, committer.clock.now());
    if (committer.peek(undefined, isDue) !== true) return;
    while (committer.isOpen) {
      const now = committer.clock.now();
      const waiting = committer.peek(undefined, (engine) => engine.cronList(now)) ?? [];
      this.#tell(waiting);
      const due = waiting.filter((cron) => cron.next <= now);
      const usable = due.filter((cron) => usableGrid(cron) !== undefined);
      this.#lookAgainAt = due.length > 0 ? lookAgainAt(waiting, now) : 0;
      if (usable.length === 0) return;
      await Promise.all(usable.map(({ name }) => this.#fireCron(name)));
    }
  }

  #tell(waiting: readonly CronReply[]): void {
    const before = this.#told;
    this.#told = new Set();
    for (const cron of waiting) {
      const hindrance = hindranceOf(cron);
      if (hindrance === undefined) continue;
      this.#told.add(cron.name);
      if (!before.has(cron.name)) this.#onError(unfired(cron.name, hindrance));
    }
  }

  /** One commit's worth. */
  async #fireCron(name: string): Promise<void> {
    const schedule = { family: FAMILY.shared, text: name };
    await this.#committer.ask('command', undefined, (engine, { now }) => {
      const found = engine.scheduleGet(schedule, { now, caller: ROOT });
      if (found?.when.kind !== 'cron' || found.next === undefined || found.next > now) return;
      const grid = usableGrid(found.when);
      if (grid !== undefined) engine.fireCron(name, grid.passed(found.next, now), now);
    });
  }
}

function unfired(schedule: string, { code, message, details }: FencepostError): FencepostError {
  const what = `the schedule ${quote(schedule)} cannot be fired by this runtime: ${message}`;
  return new FencepostError(code, what, { details: { ...details, schedule } });
}

/** After a while, or when the first one comes due that can be worked out. */
function lookAgainAt(waiting: readonly CronReply[], now: number): number {
  const next = waiting.find((cron) => cron.next > now && usableGrid(cron) !== undefined)?.next;
  return Math.min(now + LOOK_AGAIN_MS, next ?? Infinity);
}
