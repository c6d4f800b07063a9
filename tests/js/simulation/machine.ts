/**
 * A place where processes run, one after the other: each opens the store, is used by a client, and
 * ends by closing it, or by crashing.
 */
import { FencepostError, type Store } from 'fencepost';
import type { EngineModule } from '../../../pkg/dist/load.js';
import { openOn } from '../../../pkg/dist/open.js';
import { node } from '../../../pkg/dist/platform/node.js';
import type { Chance } from './chance.js';
import { Client } from './client.js';
import { Connection, type Flavour } from './connection.js';
import type { Ledger } from './ledger.js';
import { Life } from './life.js';
import { STORE } from './places.js';
import { Probe } from './probe.js';
import type { Scheduler } from './scheduler.js';
import type { SharedLog } from './shared-log.js';
import { shown, type Trace } from './trace.js';
import type { Verdict } from './verdict.js';
import type { Weather } from './weather.js';
import type { Witness } from './witness.js';

/** What all machines of a world share. */
export interface Surroundings {
  readonly module: EngineModule;
  readonly scheduler: Scheduler;
  readonly log: SharedLog;
  readonly weather: Weather;
  readonly witness: Witness;
  readonly ledger: Ledger;
  readonly verdict: Verdict;
  readonly trace: Trace;
  readonly flavour: Flavour;
  readonly timeout: number;
  readonly compactBytesMin: number;
}

/** Errors that an open may end with while something goes wrong. */
const OPEN_ERRORS: ReadonlySet<string> = new Set([
  'JOURNAL_UNAVAILABLE',
  'JOURNAL_FULL',
  'OUTCOME_UNKNOWN',
  'LOG_REPLACED',
  'ENGINE_CRASHED',
]);

export class Machine {
  readonly name: string;
  readonly #parts: Surroundings;
  readonly #chance: Chance;
  #life: Life | null = null;
  #probe: Probe | null = null;
  #client: Client | null = null;
  #isClosing = false;
  /** How far the wall clock is off. */
  #wallOffset = 0;

  constructor(name: string, parts: Surroundings, chance: Chance) {
    this.name = name;
    this.#parts = parts;
    this.#chance = chance;
  }

  /** Absent while no store is open. */
  get client(): Client | null {
    return this.#isClosing ? null : this.#client;
  }

  get isDown(): boolean {
    return this.#life === null;
  }

  get isFrozen(): boolean {
    return this.#life?.isFrozen === true;
  }

  /** Starts a process, which opens the store. */
  start(): void {
    const { module, scheduler, timeout, compactBytesMin } = this.#parts;
    const life = new Life(this.name, scheduler, this.#wallOffset);
    const probe = this.#newProbe();
    this.#life = life;
    this.#probe = probe;
    this.#isClosing = false;
    this.#tell('starts');
    const open = openOn(
      { ...node, engine: async () => probe.watched(module) },
      { compactBytesMin },
    );
    const seed = BigInt(this.#chance.below(2 ** 31));
    const options = { journal: this.#connect(life), clock: life.clock, seed, timeout };
    open(STORE, options).then(
      (store) => {
        if (!life.isOver) this.#opened(store, life);
      },
      (error: unknown) => {
        if (!life.isOver) this.#failed(error, life);
      },
    );
  }

  #newProbe(): Probe {
    const { witness, verdict } = this.#parts;
    const chance = this.#chance;
    return new Probe({
      chance,
      verdict,
      arrived: ({ logId, slot, rowsHash }) => witness.arrived(logId, slot, rowsHash, this.name),
    });
  }

  #connect(life: Life): Connection {
    const { flavour, log, weather, scheduler } = this.#parts;
    return new Connection({
      flavour,
      log,
      weather,
      life,
      send: (ms, arrive) => {
        scheduler.after(ms, arrive);
      },
      die: () => {
        if (!life.isOver) this.crash();
      },
    });
  }

  #opened(store: Store, life: Life): void {
    this.#tell(`opened at version ${store.version}`);
    const { ledger, verdict, witness } = this.#parts;
    this.#client = new Client({ store, life, ledger, verdict, witness });
  }

  #failed(error: unknown, life: Life): void {
    this.#tell(`could not open: ${shown(error)}`);
    const isExpected = error instanceof FencepostError && OPEN_ERRORS.has(error.code);
    this.#parts.verdict.require(isExpected, () => `open failed with ${shown(error)}`);
    this.#end(life);
  }

  /** Closes the store, and ends when that is done. */
  close(): void {
    const [client, life] = [this.#client, this.#life];
    if (client === null || life === null || this.#isClosing) return;
    this.#isClosing = true;
    this.#tell('closes');
    client.store.close().then(
      () => this.#closed(life, 'closed'),
      (error: unknown) => this.#closed(life, `closed with ${shown(error)}`),
    );
  }

  #closed(life: Life, how: string): void {
    if (life.isOver) return;
    this.#tell(how);
    // Whoever was waiting is told in the same turn.
    life.later(0, () => this.#left(life));
  }

  #left(life: Life): void {
    const { verdict, ledger } = this.#parts;
    const open = ledger.unanswered().filter(({ who }) => who === this.name);
    verdict.require(open.length === 0, () => {
      return `${this.name} is closed, and owes the answer of #${open[0]?.number} ${open[0]?.what}`;
    });
    verdict.require(
      life.timers === 0,
      () => `${this.name} is closed, and ${life.timers} timers run`,
    );
    this.#end(life);
  }

  /** The process is gone from one event to the next. */
  crash(): void {
    if (this.#life === null) return;
    this.#tell('crashes');
    this.#end(this.#life);
  }

  #end(life: Life): void {
    life.end();
    this.#parts.ledger.abandon(this.name);
    this.#life = null;
    this.#client = null;
    this.#probe = null;
    this.#isClosing = false;
  }

  freeze(): void {
    this.#tell('freezes');
    this.#life?.freeze();
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.#tell('thaws');
    this.#life?.thaw();
  }

  /** Sets the wall clock off by so much; the next process keeps it. */
  setClock(offset: number): void {
    this.#tell(`clock is off by ${offset} ms`);
    this.#wallOffset = offset;
    if (this.#life !== null) this.#life.wallOffset = offset;
  }

  trap(calls: number): void {
    this.#tell(`engine crashes after ${calls} calls`);
    this.#probe?.trap(calls);
  }

  #tell(what: string): void {
    this.#parts.trace.tell(this.name, what);
  }
}
