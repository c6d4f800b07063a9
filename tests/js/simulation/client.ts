/**
 * Who uses a store: asks, remembers what it holds, and writes down what it was told.
 *
 * What it does is in the tables of deeds; what its answers are worth is checked here and there.
 */
import { FencepostError, type Lease, type Queue, type Store, type Task } from 'fencepost';
import type { Chance } from './chance.js';
import type { Command, Ledger } from './ledger.js';
import type { Life } from './life.js';
import { QUEUE_NAMES, QUEUES } from './places.js';
import { shown } from './trace.js';
import type { Verdict } from './verdict.js';
import type { Witness } from './witness.js';

export interface ClientParts {
  readonly store: Store;
  readonly life: Life;
  readonly ledger: Ledger;
  readonly verdict: Verdict;
  readonly witness: Witness;
}

/** What stood when a client asked. */
export interface Since {
  readonly slot: number;
  readonly version: number;
}

/** What an answer says about the command's marks. */
export interface Judgement {
  readonly applied: boolean;
}

/** One thing a client may do. */
export interface Deed {
  readonly name: string;
  readonly weight: number;
  /** Asks, and does not wait. */
  run(client: Client, chance: Chance): void;
}

export interface Asked<T> {
  readonly what: string;
  /** Marks besides the command's own; absent: it has none at all. */
  readonly parts?: readonly string[];
  /** It raises the counter. */
  readonly counts?: boolean;
  /** Codes that it may fail with besides those of every store. */
  readonly mayFail?: readonly string[];
  call(mark: number): Promise<T>;
  /** Looks at the answer. `since` is absent when the log was replaced meanwhile. */
  judge?(answer: T, since: Since | undefined, mark: number): Judgement;
}

/** An id that no world gets to: one that may be made later would be met by chance. */
const NO_TASK = 999_999;

export class Client {
  readonly #parts: ClientParts;
  tasks: Task[] = [];
  leases: Lease[] = [];
  /** Its store's log is another one: it must open again. */
  isLost = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.life.name;
  }

  get store(): Store {
    return this.#parts.store;
  }

  get life(): Life {
    return this.#parts.life;
  }

  get ledger(): Ledger {
    return this.#parts.ledger;
  }

  get witness(): Witness {
    return this.#parts.witness;
  }

  require(holds: boolean, promise: () => string): void {
    this.#parts.verdict.require(holds, promise);
  }

  anyQueue(chance: Chance): Queue {
    return this.queue(chance.oneOf(QUEUE_NAMES));
  }

  queue(name: string): Queue {
    return this.#parts.store.queue(name, QUEUES[name]);
  }

  /** A claim that it believes to have; it may let go of it. */
  anyTask(chance: Chance): Task | undefined {
    return this.tasks.length === 0 ? undefined : chance.oneOf(this.tasks);
  }

  anyLease(chance: Chance): Lease | undefined {
    return this.leases.length === 0 ? undefined : chance.oneOf(this.leases);
  }

  /** Any task of the log, of whomever. */
  anyId(chance: Chance): number {
    const ids = [...this.witness.now.tasks.keys()];
    return ids.length === 0 ? NO_TASK : chance.oneOf(ids);
  }

  drop(task: Task): void {
    this.tasks = this.tasks.filter((other) => other !== task);
  }

  ask<T>(asked: Asked<T>): void {
    const { ledger, witness, life } = this.#parts;
    const command = ledger.ask(this.name, asked.what, asked.parts ?? null, asked.counts);
    const { generation } = witness;
    const { slot, version } = witness.now;
    const answered = (answer: T) => {
      if (life.isOver) return;
      const since = witness.generation === generation ? { slot, version } : undefined;
      const judgement = asked.judge?.(answer, since, command.number) ?? { applied: true };
      const fate = judgement.applied ? 'applied' : 'void';
      ledger.settle(command, fate, shown(answer));
    };
    const failed = (error: unknown) => {
      if (!life.isOver) this.#failed(command, error, asked.mayFail);
    };
    callOf(asked, command.number).then(answered, failed);
  }

  #failed(command: Command, error: unknown, mayFail: readonly string[] = []): void {
    const { ledger } = this.#parts;
    const isAllowed = error instanceof FencepostError && mayFail.includes(error.code);
    const fate = isAllowed ? 'void' : fateOf(error);
    if (error instanceof FencepostError && error.code === 'LOG_REPLACED') this.isLost = true;
    this.require(fate !== undefined, () => {
      const stack = error instanceof Error ? error.stack : '';
      return `#${command.number} ${command.what} failed with ${shown(error)}\n${stack}`;
    });
    ledger.settle(command, fate ?? 'unclear', shown(error));
  }
}

async function callOf<T>({ call }: Asked<T>, mark: number): Promise<T> {
  return call(mark);
}

/** What an error says about the command. Undefined: no store may give it here. */
function fateOf(error: unknown): 'void' | 'unclear' | undefined {
  if (error instanceof GivenUp) return 'void';
  if (!(error instanceof FencepostError)) return undefined;
  switch (error.code) {
    case 'OUTCOME_UNKNOWN':
    case 'LOG_REPLACED':
      return 'unclear';
    case 'JOURNAL_UNAVAILABLE':
    case 'JOURNAL_FULL':
      return error.details.stored === false ? 'void' : undefined;
    case 'CHECK_FAILED':
    case 'STORE_CLOSED':
    case 'ENGINE_CRASHED':
    case 'TASK_DEAD':
    case 'TASK_CANCELLED':
    case 'TASK_GONE':
      return 'void';
    default:
      return undefined;
  }
}

/** The reason of a signal that a client aborts. */
export class GivenUp extends Error {}
