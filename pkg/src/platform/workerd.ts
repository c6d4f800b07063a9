/** Edge workers: code may not be compiled while they run, so the module comes compiled. */
import module from '../../wasm/fencepost_bg.wasm';
import { engineOf, fetchedEngine } from '../load.js';
import { noJournal, type Platform } from './platform.js';

const engine = engineOf(module as object);

export const workerd: Platform = {
  engine: async () => engine,
  engineAt: fetchedEngine,
  journal() {
    throw noJournal(
      'in a Durable Object pass durableObject(this.ctx) of fencepost/durable-object, else memory()',
    );
  },
};
