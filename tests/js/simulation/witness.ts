/**
 * Replays the log, entry by entry as the journal stores it, and checks what must hold behind each:
 * the entry follows on the one before, all indexes equal a rebuild, tokens and time rise, no task
 * is lost or made twice, and every engine that arrives at the slot has the same rows.
 */
import { type Bridge, ROOT } from '../../../pkg/dist/requests.js';
import type { Ledger } from './ledger.js';
import { mayBecome } from './lifecycle.js';
import type { LogWatcher } from './shared-log.js';
import { look, NOTHING_SEEN, type Sight, type TaskSight } from './sight.js';
import type { Trace } from './trace.js';
import type { Verdict } from './verdict.js';

/** A claim or a lease that was granted. */
export interface Grant {
  readonly of: string;
  readonly owner: string | undefined;
  readonly slot: number;
}

export interface WitnessParts {
  readonly create: () => Bridge;
  readonly verdict: Verdict;
  readonly trace: Trace;
  readonly ledger: Ledger;
  /** Whether tokens must be above those of a log that was cleared: no clock was set back. */
  readonly clocksAreTrue: boolean;
}

export class Witness implements LogWatcher {
  readonly #parts: WitnessParts;
  #engine: Bridge;
  #marks = new Map<number, string>();
  /** Of this log: what stood behind each slot. */
  #history: Sight[] = [NOTHING_SEEN];
  #generation = 0;
  #highestId = 0;
  #highestToken = 0;
  #grants = new Map<number, Grant>();
  /** Boundaries, by what they fired. */
  #fired = new Map<string, number>();
  /** How many repairs of the clock may still be stored. */
  #repairs = 0;

  constructor(parts: WitnessParts) {
    this.#parts = parts;
    this.#engine = parts.create();
  }

  /** How many logs were cleared away before this one. */
  get generation(): number {
    return this.#generation;
  }

  get now(): Sight {
    return this.#history.at(-1) ?? NOTHING_SEEN;
  }

  /** Whether the grant is stored. An entry hides those that end in it. */
  mayHaveGranted(token: number, of: string): boolean {
    const granted = this.#grants.get(token);
    return granted === undefined || granted.of === of;
  }

  /** Time may run backwards, until what is returned is called: the repair was answered. */
  mayRepairClock(): () => void {
    const { generation } = this;
    this.#repairs += 1;
    return () => {
      if (generation === this.#generation) this.#repairs -= 1;
    };
  }

  /** In a healed world nothing that is due is left to be fired. */
  requireFired(): void {
    const { time } = this.now;
    for (const { name, next } of this.#engine.scheduleList({ now: time, caller: ROOT })) {
      const isAhead = next === undefined || next > time;
      this.#parts.verdict.require(isAhead, () => `at ${time} nobody fired ${name}, due at ${next}`);
    }
  }

  /** What stood behind the slots from `slot` on. */
  since(slot: number): readonly Sight[] {
    return this.#history.slice(slot);
  }

  /** What stood before and behind the entry that holds a version. */
  around(version: number): { before: Sight; after: Sight } | undefined {
    const at = this.#history.findIndex((sight) => sight.version >= version);
    const [before, after] = [this.#history[at - 1], this.#history[at]];
    return before === undefined || after === undefined ? undefined : { before, after };
  }

  stored(entry: Uint8Array): void {
    const { verdict, trace, ledger } = this.#parts;
    if (!verdict.stands) return;
    const before = this.now;
    try {
      this.#engine.merge(entry);
    } catch (error) {
      verdict.breaks(`the entry in slot ${before.slot + 1} does not fit: ${String(error)}`);
      return;
    }
    const report = this.#engine.verify();
    verdict.require(report.ok, () => `indexes differ from a rebuild: ${report.problems.join()}`);
    const after = look(this.#engine, this.#marks);
    this.#history.push(after);
    trace.tell('log', `slot ${after.slot} version ${after.version} rows ${after.rowsHash}`);
    this.#requireTime(before, after);
    this.#requireTokens(before, after);
    this.#requireTasks(before, after);
    ledger.observe(before, after);
  }

  compacted(slot: number, snapshot: Uint8Array): void {
    const { verdict, trace, create } = this.#parts;
    trace.tell('log', `compacted up to slot ${slot}`);
    const engine = create();
    engine.beginRestore();
    engine.restorePart(snapshot);
    engine.endRestore();
    const { logId, slot: at } = engine;
    verdict.require(logId === this.#engine.logId, () => 'a snapshot is of another log');
    verdict.require(at === slot, () => `a snapshot of slot ${at} is put at slot ${slot}`);
    this.arrived(logId, at, engine.rowsHash(), 'a snapshot');
    engine.free();
  }

  cleared(): void {
    this.#parts.trace.tell('log', 'cleared');
    this.#parts.ledger.forget();
    this.#engine.free();
    this.#engine = this.#parts.create();
    this.#marks = new Map();
    this.#history = [NOTHING_SEEN];
    this.#generation += 1;
    this.#highestId = 0;
    if (!this.#parts.clocksAreTrue) this.#highestToken = 0;
    this.#grants = new Map();
    this.#fired = new Map();
    this.#repairs = 0;
  }

  /** An engine says which rows it has at a slot; of another log they may be others. */
  arrived(logId: string, slot: number, rowsHash: string, who: string): void {
    const expected = this.#history[slot];
    if (expected === undefined || logId !== this.#engine.logId) return;
    this.#parts.verdict.require(
      expected.rowsHash === rowsHash,
      () => `${who} has other rows at slot ${slot}: ${rowsHash}, not ${expected.rowsHash}`,
    );
  }

  end(): void {
    this.#engine.free();
  }

  #requireTime(before: Sight, after: Sight): void {
    const { verdict } = this.#parts;
    const isRepaired = this.#repairs > 0 && after.time < before.time;
    verdict.require(after.version > before.version, () => 'an entry has no version of its own');
    verdict.require(after.time >= before.time || isRepaired, () => 'time runs backwards');
    if (isRepaired) this.#forgetFired(after.time);
  }

  /** What comes after a repaired time comes again. */
  #forgetFired(time: number): void {
    for (const [firing, boundary] of this.#fired) if (boundary > time) this.#fired.delete(firing);
  }

  /** Every grant has a token above all that were ever granted. */
  #requireTokens(before: Sight, after: Sight): void {
    const { verdict } = this.#parts;
    const granted = grantsOf(before, after);
    const highest = this.#highestToken;
    for (const { token, ...grant } of granted) {
      const isTwice = this.#grants.has(token);
      verdict.require(token > highest && !isTwice, () => `token ${token} does not rise`);
      this.#highestToken = Math.max(this.#highestToken, token);
      this.#grants.set(token, { ...grant, slot: after.slot });
    }
  }

  /** A boundary fires once, unless time itself was brought back to before it. */
  #requireFirst({ mark, boundary }: TaskSight): void {
    if (boundary === undefined) return;
    const firing = `${mark} ${boundary}`;
    const { verdict } = this.#parts;
    verdict.require(!this.#fired.has(firing), () => `the boundary ${boundary} fired twice`);
    this.#fired.set(firing, boundary);
  }

  /** Every task was made once by somebody, and is there until somebody takes it away. */
  #requireTasks(before: Sight, after: Sight): void {
    const { verdict, ledger } = this.#parts;
    for (const task of after.tasks.values()) {
      if (before.tasks.has(task.id)) continue;
      verdict.require(task.id > this.#highestId, () => `task ${task.id} came back`);
      verdict.require(ledger.hasAsked(task.mark), () => `nobody made task ${task.id}`);
      this.#requireFirst(task);
    }
    this.#highestId = Math.max(this.#highestId, ...after.tasks.keys());
    for (const task of before.tasks.values()) {
      const still = after.tasks.get(task.id);
      const isGone = still === undefined;
      if (!isGone && still.state === task.state && still.token === task.token) continue;
      verdict.require(
        mayBecome(task, still?.state ?? 'gone', after.time, ledger),
        () => `at ${after.time} ${JSON.stringify(task)} became ${JSON.stringify(still)}`,
      );
    }
  }
}

function grantsOf(before: Sight, after: Sight) {
  const grants: { token: number; of: string; owner: string | undefined }[] = [];
  for (const { id, token, owner } of after.tasks.values()) {
    if (token === undefined || before.tasks.get(id)?.token === token) continue;
    grants.push({ token, of: `task ${id}`, owner });
  }
  for (const [name, { token, owner }] of after.leases) {
    if (before.leases.get(name)?.token === token) continue;
    grants.push({ token, of: `lease ${name}`, owner });
  }
  return grants;
}
