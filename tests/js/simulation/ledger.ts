/**
 * What clients asked for and what they were told. It knows nothing of the engine's rules: whatever
 * was told is compared with what the log turns out to hold.
 *
 * A command is known by its *marks*: payloads and values that only it writes. All of them appear in
 * one entry, once, or none ever does.
 */
import { COUNTER, MARK_PREFIX } from './places.js';
import type { Sight } from './sight.js';
import type { Trace } from './trace.js';
import type { Verdict } from './verdict.js';

/**
 * - `asked`: no answer yet
 * - `applied`: it was acknowledged, so it is stored
 * - `void`: it was refused or failed for certain, so it is not stored and never will be
 * - `unclear`: it was said that nobody knows, or who asked is gone
 */
type Fate = 'asked' | 'applied' | 'void' | 'unclear';

export interface Command {
  readonly number: number;
  readonly who: string;
  readonly what: string;
  readonly marks: ReadonlySet<string>;
  fate: Fate;
  /** It raises the counter by one. */
  readonly counts: boolean;
  /** In which slot its marks appeared. */
  slot: number | null;
}

/** What may end a claim or a task. */
export type Ending = 'complete' | 'fail' | 'release' | 'cancel';

export class Ledger {
  readonly #verdict: Verdict;
  readonly #trace: Trace;
  readonly #commands: Command[] = [];
  #endings = new Set<string>();
  /** Queues of which it was asked. */
  #purged = new Set<string>();
  #paused = new Set<string>();
  #redriven = new Set<string>();
  /** What somebody was told to have happened, and may happen once. */
  #happened = new Set<string>();

  constructor(verdict: Verdict, trace: Trace) {
    this.#verdict = verdict;
    this.#trace = trace;
  }

  get size(): number {
    return this.#commands.length;
  }

  /** `parts`: what it writes besides its own number; `null` when it writes nothing of its own. */
  ask(who: string, what: string, parts: readonly string[] | null, counts = false): Command {
    const number = this.#commands.length;
    const marks = new Set(parts?.map((part) => `${number}.${part}`));
    if (parts !== null) marks.add(`${number}`);
    const command: Command = { number, who, what, marks, counts, fate: 'asked', slot: null };
    this.#commands.push(command);
    this.#trace.tell(who, `#${number} ${what}`);
    return command;
  }

  settle(command: Command, fate: Exclude<Fate, 'asked'>, answer: string): void {
    if (command.fate === 'asked') {
      command.fate = fate;
      this.#trace.tell(command.who, `#${command.number} ${fate}: ${answer}`);
    }
    this.#check(command);
  }

  /** Whoever waits on `who` is told nothing any more. */
  abandon(who: string): void {
    for (const command of this.#open()) if (command.who === who) command.fate = 'unclear';
  }

  unanswered(): Command[] {
    return [...this.#open()];
  }

  /** An ending that was asked for may come true at any time. */
  mayEnd(ending: Ending, id: number, token?: number): void {
    this.#endings.add(endingKey(ending, id, token));
  }

  mayHave(ending: Ending, id: number, token?: number): boolean {
    return this.#endings.has(endingKey(ending, id, token));
  }

  mayPurge(queue: string): void {
    this.#purged.add(queue);
  }

  mayHavePurged(queue: string): boolean {
    return this.#purged.has(queue);
  }

  mayPause(queue: string): void {
    this.#paused.add(queue);
  }

  mayHavePaused(queue: string): boolean {
    return this.#paused.has(queue);
  }

  mayRedrive(queue: string): void {
    this.#redriven.add(queue);
  }

  mayHaveRedriven(queue: string): boolean {
    return this.#redriven.has(queue);
  }

  /** Something that may come true once in a log. */
  happenedOnce(what: string): void {
    this.#verdict.require(!this.#happened.has(what), () => `${what} was acknowledged twice`);
    this.#happened.add(what);
  }

  hasAsked(mark: string): boolean {
    const number = Number.parseInt(mark, 10);
    return this.#commands[number] !== undefined;
  }

  /** An entry was stored: whose marks are new in it? */
  observe(before: Sight, after: Sight): void {
    const seen = new Map<Command, Set<string>>();
    for (const mark of newMarks(before, after)) {
      const command = this.#commands[Number.parseInt(mark, 10)];
      if (command === undefined || !command.marks.has(mark)) continue;
      seen.set(command, (seen.get(command) ?? new Set()).add(mark));
    }
    for (const [command, marks] of seen) {
      const { number, what } = command;
      const named = `#${number} ${what}`;
      this.#verdict.require(command.slot === null, () => `${named} was applied twice`);
      const isWhole = marks.size === command.marks.size;
      this.#verdict.require(isWhole, () => `of ${named} only ${[...marks].join()} was stored`);
      command.slot = after.slot;
      this.#check(command);
    }
    const counted = [...seen.keys()].filter(({ counts }) => counts).length;
    const raised = counterOf(after) - counterOf(before);
    this.#verdict.require(raised === counted, () => `${counted} commands counted ${raised}`);
  }

  /** The log is gone, and with it everything that was promised about it. */
  forget(): void {
    this.#endings = new Set();
    this.#purged = new Set();
    this.#paused = new Set();
    this.#redriven = new Set();
    this.#happened = new Set();
  }

  #check(command: Command): void {
    const { number, what, fate, slot, marks } = command;
    if (marks.size === 0) return;
    const named = `#${number} ${what}`;
    const isLost = fate === 'applied' && slot === null;
    this.#verdict.require(!isLost, () => `${named} was acknowledged and is not stored`);
    const isZombie = fate === 'void' && slot !== null;
    this.#verdict.require(!isZombie, () => `${named} had failed, and is stored in slot ${slot}`);
  }

  *#open(): Iterable<Command> {
    for (const command of this.#commands) if (command.fate === 'asked') yield command;
  }
}

function counterOf({ values }: Sight): number {
  return Number(values.get(COUNTER)?.value ?? 0);
}

function* newMarks(before: Sight, after: Sight): Iterable<string> {
  for (const task of after.tasks.values()) if (!before.tasks.has(task.id)) yield task.mark;
  for (const key of after.values.keys()) {
    if (!before.values.has(key) && key.startsWith(MARK_PREFIX)) yield key.slice(MARK_PREFIX.length);
  }
}

function endingKey(ending: Ending, id: number, token = 0): string {
  return `${ending} ${id} ${token}`;
}
