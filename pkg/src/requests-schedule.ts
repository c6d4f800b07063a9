/** What the package asks of the engine about schedules. */
import type { EnqueueRequest, FullName, Moment, StampsRequest } from './requests.js';

/** In the order of the engine's numbers. */
export const WHEN_KINDS = ['every', 'cron', 'at'] as const;
export const CATCH_UPS = ['all', 'last', 'none'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

export type WhenRequest =
  | { readonly kind: 'every'; readonly interval: number }
  | { readonly kind: 'cron'; readonly expression: string; readonly timeZone: string }
  | { readonly kind: 'at'; readonly instant: number };

export interface ScheduleRequest {
  readonly name: FullName;
  readonly when: WhenRequest;
  readonly catchUp: CatchUp;
  /** The task that each boundary makes; key, delay, due time and writes are absent. */
  readonly job: EnqueueRequest;
}

/** A `cron` schedule that waits for its next boundary. */
export interface CronReply {
  readonly name: string;
  readonly next: number;
  readonly expression: string;
  readonly timeZone: string;
}

export interface ScheduleReply {
  readonly name: string;
  readonly when: WhenRequest;
  /** Absent when no boundary is left. */
  readonly next: number | undefined;
  readonly lastFiredAt: number | undefined;
  readonly fired: number;
  readonly catchUp: CatchUp;
  readonly queue: string;
  readonly priority: number;
  readonly expiresIn: number | undefined;
  /** The name of the codec that made the payload; absent is JSON. */
  readonly codec: string | undefined;
  readonly stamps: StampsRequest;
  readonly payload: Uint8Array;
}

/** The boundaries that have come, and the one that follows. */
export interface PassedRequest {
  /** The oldest, at most 64, from the one that the schedule waits for. */
  readonly oldest: readonly number[];
  readonly newest: number;
  /** `NaN`: no boundary is left. */
  readonly next: number;
}

/** One commit's worth of firing; `more` asks for another. */
export interface FiredReply {
  readonly tasks: number;
  readonly more: boolean;
}

/** The engine's operations on schedules. */
export interface ScheduleOperations {
  /** `first`: of `cron`, the first boundary after now; `NaN` for the others. */
  schedulePut(request: ScheduleRequest, first: number, at: Moment): ScheduleReply;
  scheduleRemove(name: FullName, at: Moment): boolean;
  scheduleGet(name: FullName, at: Moment): ScheduleReply | undefined;
  /** In name order. */
  scheduleList(at: Moment): ScheduleReply[];
  /** Those of `cron` that wait for a boundary, the earliest first. */
  cronList(now: number): CronReply[];
  /** Fires what is due of the others. */
  fireDue(now: number): FiredReply;
  /** Fires a `cron` schedule, if it still waits for the first of these boundaries. */
  fireCron(name: string, passed: PassedRequest, now: number): FiredReply;
  /** When the next boundary of a `cron` schedule comes. */
  readonly nextCron: number | undefined;
  /** Brings the log's time back to `now`; `crons`: where those schedules are then. */
  repairClock(now: number, crons: readonly { name: string; next: number }[]): boolean;
}
