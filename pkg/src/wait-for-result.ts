/**
 * Waiting for what comes of a task.
 *
 * Woken by what this store merges and by the journal's hints; never polls. It ends when the task is
 * done, dead or gone, when the signal aborts, and when the store closes: it never hangs.
 */
import { onAbort } from './abort.js';
import { type ErrorCode, FencepostError } from './errors.js';
import type { Bridge, FullName, Moment, TaskReply } from './requests.js';
import type { Session } from './session.js';

interface Seen {
  readonly task: TaskReply | undefined;
  readonly removal: ReturnType<Bridge['removalOf']>;
}

/** The row of the done task. Rejects with what ended it otherwise. */
export async function waitForResult(
  session: Session,
  queue: FullName,
  id: number,
  signal: AbortSignal | undefined,
): Promise<TaskReply> {
  signal?.throwIfAborted();
  const look = (engine: Bridge, at: Moment): Seen => {
    const task = engine.queueGet(queue, id, at);
    return { task, removal: task === undefined ? engine.removalOf(id) : undefined };
  };
  // Followed before it is asked, so that nothing happens unseen between the two.
  let wake = () => {};
  const stop = session.follow(`task:${id}`, () => wake());
  let ignore = () => {};
  try {
    if (signal !== undefined) ignore = onAbort(signal, () => wake());
    const { task } = await session.read(look);
    // Whose task it was is not known if it was never seen here: then it is just gone.
    const first = ended(id, { task, removal: undefined });
    if (first !== undefined) return first;
    return await new Promise((resolve, reject) => {
      wake = () => {
        try {
          signal?.throwIfAborted();
          const seen = session.peek(look);
          const task = seen && ended(id, seen);
          if (task !== undefined) resolve(task);
        } catch (error) {
          reject(error);
        }
      };
      wake();
    });
  } finally {
    stop();
    ignore();
  }
}

/** Undefined while it may still come to an end. */
function ended(id: number, { task, removal }: Seen): TaskReply | undefined {
  if (task === undefined) throw gone(id, removal);
  if (task.state === 'done') return task;
  if (task.state === 'dead') {
    throw over('TASK_DEAD', id, `is dead: ${task.lastError ?? task.deadReason ?? 'failed'}`);
  }
  if (task.resultRetention > 0) return undefined;
  const message = `id: expected a task with resultRetention, got task ${id} without`;
  throw new FencepostError('INVALID_ARGUMENT', message, { details: { argument: 'id', id } });
}

function over(code: ErrorCode, id: number, how: string): FencepostError {
  return new FencepostError(code, `task ${id} ${how}`, { details: { id } });
}

function gone(id: number, removal: Seen['removal']): FencepostError {
  if (removal === undefined) return over('TASK_GONE', id, 'is not there any more');
  if (removal.cause === 'buried') return over('TASK_DEAD', id, 'died and was not kept');
  const why = removal.reason === undefined ? '' : `: ${removal.reason}`;
  return over('TASK_CANCELLED', id, `was cancelled${why}`);
}
