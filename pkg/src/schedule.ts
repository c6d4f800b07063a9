/** The schedules of a store, for one caller. */
import { usableGrid } from './cron.js';
import { sharedName } from './names.js';
import { readSchedule, scheduleRecord } from './schedule-options.js';
import type { Session } from './session.js';
import type { ScheduledJob, ScheduleRecord, When } from './types.js';

export class ScheduleTable {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async put(name: string, when: When, job: ScheduledJob): Promise<ScheduleRecord> {
    const { request, cron } = readSchedule(
      name,
      when,
      job,
      (queue) => this.#session.declared.of(queue).stamps,
    );
    this.#session.requireOpen();
    const grid = cron?.();
    const { reply } = await this.#session.command((engine, at) =>
      engine.schedulePut(request, grid?.after(at.now) ?? Number.NaN, at),
    );
    return scheduleRecord(reply);
  }

  async remove(name: string): Promise<boolean> {
    const schedule = sharedName('name', name);
    return (await this.#session.command((engine, at) => engine.scheduleRemove(schedule, at))).reply;
  }

  async get(name: string): Promise<ScheduleRecord | null> {
    const schedule = sharedName('name', name);
    const found = await this.#session.read((engine, at) => engine.scheduleGet(schedule, at));
    return found === undefined ? null : scheduleRecord(found);
  }

  /** In name order. */
  async list(): Promise<ScheduleRecord[]> {
    const found = await this.#session.read((engine, at) => engine.scheduleList(at));
    return found.map(scheduleRecord);
  }
}

/** Brings the log's time back, and the next boundaries with it. */
export async function repairClock(session: Session): Promise<void> {
  await session.alone((engine) => {
    const now = session.clock.wall();
    const crons = engine.cronList(now).flatMap((cron) => {
      // One that cannot be worked out here keeps its boundary.
      const next = usableGrid(cron)?.after(now);
      return next === undefined ? [] : [{ name: cron.name, next }];
    });
    engine.repairClock(now, crons);
  });
}
