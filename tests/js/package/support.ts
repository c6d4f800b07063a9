/** What the tests of the package share: a store on a clock that stands still, and short checks. */
import assert from 'node:assert/strict';
import {
  FencepostError,
  type Journal,
  memory,
  type OpenOptions,
  open,
  type Queue,
  type Store,
  type Task,
} from 'fencepost';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';

export interface Bench {
  clock: VirtualClock;
  journal: Journal;
  store: Store;
  queue: Queue;
}

/** A store in memory, with the queue `mail`. Closed by the end of the test. */
export async function bench(options: OpenOptions = {}): Promise<Bench> {
  const clock = virtualClock();
  const journal = options.journal ?? memory();
  const store = await open('test', { clock, journal, seed: 1n, ...options });
  return { clock, journal, store, queue: store.queue('mail') };
}

/** Claims one task, which must be there. */
export async function claimOne(
  queue: Queue,
  owner = 'w',
  options?: { lease?: number },
): Promise<Task> {
  const [task] = await queue.claim(owner, options);
  assert.ok(task, 'there is a task to claim');
  return task;
}

/** The promise rejects with an error of this code. */
export async function rejects(promise: Promise<unknown>, code: string): Promise<FencepostError> {
  const outcome = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!(outcome instanceof FencepostError)) assert.fail(`expected ${code}, got ${show(outcome)}`);
  assert.equal(outcome.code, code, outcome.message);
  return outcome;
}

/** The call throws an error of this code. */
export function throws(call: () => unknown, code: string): FencepostError {
  try {
    call();
  } catch (error) {
    if (!(error instanceof FencepostError)) throw error;
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail(`expected ${code}, but nothing was thrown`);
}

/** A refusal with this reason. */
export function refused(outcome: { ok: boolean; reason?: string }, reason: string): void {
  assert.deepEqual({ ok: outcome.ok, reason: outcome.reason }, { ok: false, reason });
}

/** The value of a commit that must have held. */
export function held<T>(outcome: { ok: true; value: T } | { ok: false; reason: string }): T {
  if (!outcome.ok) assert.fail(`refused: ${outcome.reason}`);
  return outcome.value;
}

export function payloads(tasks: readonly { payload: unknown }[]): unknown[] {
  return tasks.map(({ payload }) => payload);
}

function show(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value);
}
