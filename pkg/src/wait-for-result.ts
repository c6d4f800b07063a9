/**
 * Waiting for what comes of a task.
 *
 * Woken by what this store merges and by the journal's hints; never polls. It ends when the task is
 * done, dead or gone, when the signal aborts, and when the store closes: it never hangs.
 */
import { type ErrorCode, FencepostError } from './errors.js';
import type { Bridge, FullName, Moment, TaskReply } from './requests.js';
import type { Session } from './session.js';

interface Seen {
  readonly task: TaskReply | undefined;
}

/** The row of the done task. Rejects with what ended it otherwise. */
export async function waitForResult(
  session: Session,
  queue: FullName,
  id: number,
  signal: AbortSignal | undefined,
): Promise<TaskReply> {
  signal?.throwIfAborted();
  const look = (engine: Bridge, at: Moment): Seen => ({ task: engine.queueGet(queue, id, at) });
  const first = ended(id, await session.read(look));
  if (first !== undefined) return first;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stop();
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const abort = () => end(() => reject(signal?.reason));
    const stop = session.follow(() => {
      try {
        const seen = session.peek(look);
        const task = seen && ended(id, seen);
        if (task !== undefined) end(() => resolve(task));
      } catch (error) {
        end(() => reject(error));
      }
    });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort);
  });
}

/** Undefined while it may still come to an end. */
function ended(id: number, { task }: Seen): TaskReply | undefined {
  if (task === undefined) throw over('TASK_GONE', id, 'is not there any more');
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
