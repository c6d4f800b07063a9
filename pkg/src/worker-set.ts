/** The workers of a store, so that closing it stops them. */
import { FencepostError } from './errors.js';
import type { Worker } from './types.js';
import { QueueWorker, type WorkerParts } from './worker.js';

export class WorkerSet {
  readonly #workers = new Set<QueueWorker>();
  readonly #parent: WorkerSet | null;
  #isStopped = false;

  constructor(parent: WorkerSet | null = null) {
    this.#parent = parent;
  }

  /** Those of a restricted store, which are also those of this one. */
  branch(): WorkerSet {
    return new WorkerSet(this);
  }

  /** @throws FencepostError `STORE_CLOSED` */
  begin(parts: WorkerParts): Worker {
    const sets = this.#lineage();
    if (sets.some((set) => set.#isStopped)) {
      throw new FencepostError('STORE_CLOSED', 'the store is closing');
    }
    const worker = new QueueWorker(parts);
    for (const set of sets) set.#workers.add(worker);
    void worker.ended.then(() => {
      for (const set of sets) set.#workers.delete(worker);
    });
    return worker;
  }

  /** Stops them all for good; null when nothing of them was under way. */
  stop(drain: number): Promise<unknown> | null {
    this.#isStopped = true;
    const workers = [...this.#workers];
    for (const worker of workers) worker.stopWithin(drain);
    const busy = workers.filter((worker) => !worker.hasEnded);
    return busy.length === 0 ? null : Promise.all(busy.map((worker) => worker.ended));
  }

  #lineage(): WorkerSet[] {
    return this.#parent === null ? [this] : [this, ...this.#parent.#lineage()];
  }
}
