/** The schedules of a store, for one caller. */
import { cronIsLoaded, loadCron, usableGrid } from './cron.js';
import { sharedName } from './names.js';
import type { Bridge } from './requests.js';
import { readSchedule, scheduleRecord } from './schedule-options.js';
import type { Session } from './session.js';
import type { ScheduledJob, ScheduleRecord, When } from './types.js';

export class ScheduleTable {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async put(name: string, when: When, job: ScheduledJob): Promise<ScheduleRecord> {
    const { request, cron } = readSchedule(name, when, job);
    this.#session.requireOpen();
    if (cron !== undefined) await loadCron();
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
  if (await repairUnless(session, (engine) => engine.nextCron !== undefined && !cronIsLoaded())) {
    return;
  }
  // Where it cannot be loaded no grid is usable, and those schedules keep their boundaries.
  await loadCron().catch(() => undefined);
  await repairUnless(session, () => false);
}

/** Whether it did. Decided on the newest entry: another store may have made the first `cron`. */
async function repairUnless(session: Session, lacks: (engine: Bridge) => boolean) {
  const { reply } = await session.alone((engine) => {
    if (lacks(engine)) return false;
    const now = session.clock.wall();
    const crons = engine.cronList(now).flatMap((cron) => {
      const next = usableGrid(cron)?.after(now);
      return next === undefined ? [] : [{ name: cron.name, next }];
    });
    engine.repairClock(now, crons);
    return true;
  });
  return reply;
}
