/**
 * The task that a handler gets: it notices what the handler settles by itself.
 *
 * **Invariant**: somebody looks at every promise that it gives, so a handler that does not wait for
 * its own settlement or heartbeat causes no unhandled rejection.
 */
import type { TaskReply } from './requests.js';
import { ClaimedTask, type TaskHome } from './task.js';
import type { Committed, Refused } from './types.js';

/** What became of a settlement: it holds, nobody may settle any more, or it did not come to be. */
export type Settlement =
  | { kind: 'settled' }
  | { kind: 'over'; reason: string }
  | { kind: 'failed'; error: unknown };

export class WorkedTask extends ClaimedTask {
  #latest: Promise<Settlement> | null = null;
  #isSettling = false;
  readonly #onChange: (refusal?: string) => void;

  /** `onChange`: the deadline moved, a settlement failed, or a heartbeat was refused, and why. */
  constructor(home: TaskHome, reply: TaskReply, onChange: (refusal?: string) => void) {
    super(home, reply);
    this.#onChange = onChange;
  }

  /** Whether nothing is to be renewed: a settlement is under way, or the task is over. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  set isSettling(value: boolean) {
    this.#isSettling = value;
  }

  /** What became of the newest settlement; null when there was none. */
  get settlement(): Promise<Settlement> | null {
    return this.#latest;
  }

  override complete(...args: Parameters<ClaimedTask['complete']>) {
    return this.#note(super.complete(...args));
  }

  override fail(...args: Parameters<ClaimedTask['fail']>) {
    return this.#note(super.fail(...args));
  }

  override release(...args: Parameters<ClaimedTask['release']>) {
    return this.#note(super.release(...args));
  }

  override heartbeat(...args: Parameters<ClaimedTask['heartbeat']>) {
    const beating = super.heartbeat(...args);
    beating.then(
      (answer) => this.#onChange(answer.ok ? undefined : answer.reason),
      () => undefined,
    );
    return beating;
  }

  #note<T>(settling: Promise<Committed<T> | Refused>): Promise<Committed<T> | Refused> {
    this.#isSettling = true;
    const latest = settling.then(read, (error: unknown): Settlement => ({ kind: 'failed', error }));
    this.#latest = latest;
    void latest.then(({ kind }) => {
      if (kind !== 'failed' || this.#latest !== latest) return;
      this.#isSettling = false;
      this.#onChange();
    });
    return settling;
  }
}

function read(outcome: Committed<unknown> | Refused): Settlement {
  if (outcome.ok) return { kind: 'settled' };
  const { reason } = outcome;
  // A check among the writes did not hold: the claim still does.
  if (reason === 'changed') {
    return { kind: 'failed', error: new Error('the settlement was refused: changed') };
  }
  return { kind: 'over', reason };
}
