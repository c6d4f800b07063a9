/**
 * One simulated world: machines on one log, clients that use them, and everything that may go
 * wrong, in the order that one seed draws.
 *
 * A world takes steps. Each draws from a stream of its own, so a failing world can be shortened by
 * leaving steps out. In the end everything is healed, and what was promised is looked for.
 */
import type { EngineModule } from '../../../pkg/dist/load.js';
import { Chance } from './chance.js';
import type { Deed } from './client.js';
import { FLAVOURS, type Flavour } from './connection.js';
import { Ledger } from './ledger.js';
import { Machine, type Surroundings } from './machine.js';
import { MISHAP_STEPS } from './mishaps.js';
import { QUEUE_DEEDS } from './queue-deeds.js';
import { SCHEDULE_DEEDS } from './schedule-deeds.js';
import { Scheduler } from './scheduler.js';
import { SharedLog } from './shared-log.js';
import { STORE_DEEDS } from './store-deeds.js';
import { Trace } from './trace.js';
import { Verdict } from './verdict.js';
import { Weather } from './weather.js';
import { Witness } from './witness.js';
import { WORK_DEEDS } from './work-deeds.js';

export interface WorldOptions {
  readonly seed: number;
  /** Steps that are not taken. */
  readonly without?: ReadonlySet<number>;
  /** Puts something that does not work in a place of something that does. */
  readonly breakage?: Breakage;
}

/** A part of the system that does not work: to see that it is found. */
export interface Breakage {
  readonly Log?: typeof SharedLog;
  readonly flavour?: Flavour;
  engine?(module: EngineModule): EngineModule;
}

/** What became of a world. */
export interface Ending {
  readonly seed: number;
  /** How many steps it would have taken. */
  readonly steps: number;
  /** The first promise that was broken; null in a good world. */
  readonly broken: string | null;
  readonly lines: readonly string[];
  readonly hash: string;
}

const DEEDS: readonly Deed[] = [...QUEUE_DEEDS, ...STORE_DEEDS, ...SCHEDULE_DEEDS, ...WORK_DEEDS];
/** Steps of a hundred that are a mishap, where there are any. */
const MISHAP_PERCENTS = [3, 10];
/** How long the healed world is given to settle everything. */
const HEALING_MS = 600_000;

/** Streams of the seed. */
const STREAM = { scheduler: 1, weather: 2, shape: 3, machines: 4, steps: 1_000 };

export async function runWorld(module: EngineModule, options: WorldOptions): Promise<Ending> {
  const world = new World(module, options);
  return world.run();
}

class World {
  readonly #chance: Chance;
  readonly #without: ReadonlySet<number>;
  readonly #seed: number;
  readonly #parts: Surroundings;
  readonly #machines: Machine[];
  readonly #steps: number;
  readonly #mishapPercent: number;
  readonly #pace: number;

  constructor(module: EngineModule, { seed, without = new Set(), breakage = {} }: WorldOptions) {
    this.#seed = seed;
    this.#without = without;
    this.#chance = new Chance(seed);
    const shape = this.#chance.stream(STREAM.shape);
    this.#steps = shape.between(40, 110);
    this.#mishapPercent = shape.oneOf(MISHAP_PERCENTS);
    this.#pace = shape.oneOf([5, 20, 60]);
    this.#parts = surroundings(module, this.#chance, shape, breakage);
    const chance = this.#chance.stream(STREAM.machines);
    this.#machines = Array.from({ length: shape.between(2, 4) }, (_, at) => {
      return new Machine(`m${at + 1}`, this.#parts, chance.stream(at));
    });
  }

  async run(): Promise<Ending> {
    const { trace, verdict, weather, flavour, witness } = this.#parts;
    trace.tell('world', `seed ${this.#seed}: ${this.#machines.length} machines, ${flavour}`);
    trace.tell('world', `${weather}`);
    const unhandled = (error: unknown) => verdict.breaks(`nobody handles ${stackOf(error)}`);
    process.on('unhandledRejection', unhandled);
    try {
      for (const machine of this.#machines) machine.start();
      for (let step = 0; step < this.#steps && verdict.stands; step += 1) {
        if (!this.#without.has(step)) await this.#step(this.#chance.stream(STREAM.steps + step));
      }
      if (verdict.stands) await this.#heal();
    } finally {
      process.off('unhandledRejection', unhandled);
      witness.end();
    }
    if (!verdict.stands) trace.tell('world', `broken: ${verdict.broken}`);
    const { lines, hash } = trace;
    return { seed: this.#seed, steps: this.#steps, broken: verdict.broken, lines, hash };
  }

  async #step(chance: Chance): Promise<void> {
    const { weather } = this.#parts;
    if (weather.mishaps.length > 0 && chance.happens(this.#mishapPercent)) {
      const mishap = chance.oneOf(weather.mishaps);
      MISHAP_STEPS[mishap]({ ...this.#parts, machine: chance.oneOf(this.#machines), chance });
    } else {
      this.#act(chance.oneOf(this.#machines), chance);
    }
    await this.#pass(this.#drawPause(chance));
  }

  #act(machine: Machine, chance: Chance): void {
    const { client } = machine;
    if (machine.isDown) machine.start();
    else if (client?.isLost === true) machine.close();
    // What is frozen asks nothing.
    else if (client !== null && !machine.isFrozen) chance.weighted(DEEDS).run(client, chance);
  }

  /** Mostly nothing or a moment, so that things meet; sometimes long enough for all to lapse. */
  #drawPause(chance: Chance): number {
    if (chance.happens(30)) return 0;
    if (chance.happens(90)) return chance.between(0, this.#pace);
    return chance.oneOf([500, 5_000, 70_000]);
  }

  #pass(ms: number): Promise<void> {
    const { scheduler, verdict } = this.#parts;
    return scheduler.pass(ms, () => verdict.stands);
  }

  /** Nothing goes wrong any more: everything is answered, and every promise is kept. */
  async #heal(): Promise<void> {
    const { weather, log, trace, verdict, ledger, witness } = this.#parts;
    trace.tell('world', 'is healed');
    weather.isOver = true;
    log.isFull = false;
    for (const machine of this.#machines) machine.thaw();
    await this.#pass(HEALING_MS);
    const [open] = ledger.unanswered();
    verdict.require(open === undefined, () => `#${open?.number} ${open?.what} hangs`);
    // Whoever learns now that the log is another one opens again.
    for (let turn = 0; turn < 2; turn += 1) {
      for (const machine of this.#machines) this.#useOnce(machine);
      await this.#pass(HEALING_MS);
      await this.#restart((machine) => machine.isDown || machine.client?.isLost === true);
    }
    for (const machine of this.#machines) this.#useOnce(machine);
    await this.#pass(HEALING_MS);
    for (const machine of this.#machines) {
      verdict.require(machine.client?.isLost === false, () => `${machine.name} does not recover`);
    }
    witness.requireFired();
    await this.#restart((machine) => machine === this.#machines[0]);
    for (const machine of this.#machines) machine.close();
    await this.#pass(HEALING_MS);
    for (const machine of this.#machines) {
      verdict.require(machine.isDown, () => `${machine.name} does not close`);
    }
  }

  /** Closes what is open and opens it again. */
  async #restart(which: (machine: Machine) => boolean): Promise<void> {
    const { verdict } = this.#parts;
    const machines = this.#machines.filter(which);
    for (const machine of machines) machine.close();
    await this.#pass(HEALING_MS);
    for (const machine of machines) {
      verdict.require(machine.isDown, () => `${machine.name} does not close`);
      if (machine.isDown) machine.start();
    }
    await this.#pass(HEALING_MS);
    for (const machine of machines) {
      verdict.require(machine.client !== null, () => `${machine.name} does not open again`);
    }
  }

  /** Everything that a store must be able to do when all is well. */
  #useOnce({ client }: Machine): void {
    const chance = this.#chance.stream(STREAM.machines);
    if (client === null) return;
    for (const deed of DEEDS) {
      if (['enqueue', 'claim', 'transact', 'verify', 'sync'].includes(deed.name)) {
        deed.run(client, chance);
      }
    }
  }
}

function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || String(error);
}

function surroundings(
  module: EngineModule,
  chance: Chance,
  shape: Chance,
  { Log = SharedLog, flavour = shape.oneOf(FLAVOURS), engine = (same) => same }: Breakage,
): Surroundings {
  const verdict = new Verdict();
  const scheduler = new Scheduler(chance.stream(STREAM.scheduler), (error) =>
    verdict.breaks(`a timer throws ${stackOf(error)}`),
  );
  const trace = new Trace(() => scheduler.now);
  const weather = new Weather(chance.stream(STREAM.weather));
  const ledger = new Ledger(verdict, trace);
  const witness = new Witness({
    create: () => module.create({ store: 'witness', seed: 0n, replica: 0 }),
    verdict,
    trace,
    ledger,
    clocksAreTrue: !weather.mishaps.includes('clock jump'),
  });
  return {
    module: engine(module),
    scheduler,
    log: new Log(witness, shape.oneOf([0, 2, 64])),
    weather,
    witness,
    ledger,
    verdict,
    trace,
    flavour,
    timeout: shape.oneOf([200, 2_000, 30_000]),
    compactBytesMin: shape.oneOf([500, 3_000, 20_000]),
  };
}
