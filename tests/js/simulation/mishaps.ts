/** What strikes a machine or the storage as a whole. */
import type { Chance } from './chance.js';
import type { Machine, Surroundings } from './machine.js';
import type { Mishap } from './weather.js';

interface Struck extends Surroundings {
  readonly machine: Machine;
  readonly chance: Chance;
}

const HOUR = 3_600_000;

export const MISHAP_STEPS: Readonly<Record<Mishap, (struck: Struck) => void>> = {
  crash: ({ machine }) => machine.crash(),
  restart: ({ machine }) => (machine.isDown ? machine.start() : machine.close()),
  freeze({ machine, scheduler, chance }) {
    if (machine.isDown || machine.isFrozen) return;
    machine.freeze();
    scheduler.after(chance.oneOf([20, 2_000, 100_000]), () => machine.thaw());
  },
  'clock jump': ({ machine, chance }) =>
    machine.setClock(chance.oneOf([0, 1_000, -1_000, HOUR, -HOUR, 24 * HOUR])),
  'engine trap': ({ machine, chance }) => machine.trap(chance.between(1, 30)),
  'full storage'({ log, trace, scheduler, chance }) {
    trace.tell('log', 'is full');
    log.isFull = true;
    scheduler.after(chance.oneOf([10, 1_000, 60_000]), () => {
      trace.tell('log', 'has room');
      log.isFull = false;
    });
  },
  'cleared storage': ({ log }) => log.clear(),
};
