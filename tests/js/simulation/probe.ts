/**
 * The real engine under observation: it may crash at any call, and tells the witness which rows it
 * has whenever it arrives at another slot.
 */
import type { EngineModule } from '../../../pkg/dist/load.js';
import type { Bridge } from '../../../pkg/dist/requests.js';
import type { Chance } from './chance.js';
import type { Verdict } from './verdict.js';

export interface ProbeParts {
  readonly chance: Chance;
  readonly verdict: Verdict;
  arrived(at: { logId: string; slot: number; rowsHash: string }): void;
}

/** Calls after which the engine may be at another slot. */
const ARRIVALS: ReadonlySet<string> = new Set(['merge', 'mergeSealed', 'endRestore']);
/** Calls that a store makes where it does not expect a crash to come from. */
const SAFE: ReadonlySet<string> = new Set(['free', 'addCaller', 'removeCaller', 'rowsHash']);

/** The engines of one process, all of them. */
export class Probe {
  readonly #parts: ProbeParts;
  /** Calls until the next crash. */
  #fuse = Number.POSITIVE_INFINITY;

  constructor(parts: ProbeParts) {
    this.#parts = parts;
  }

  /** Crashes the engine some calls from now. */
  trap(calls: number): void {
    this.#fuse = calls;
  }

  /** The same engines, each with a replica id of its own, drawn from the seed. */
  watched(module: EngineModule): EngineModule {
    return {
      create: (options) => {
        const replica = this.#parts.chance.below(2 ** 31);
        return this.#watch(module.create({ ...options, replica }));
      },
    };
  }

  #watch(engine: Bridge): Bridge {
    const { verdict, arrived } = this.#parts;
    let hasCrashed = false;
    const requireAlive = (name: string) =>
      verdict.require(!hasCrashed, () => `${name} was called on an engine that crashed`);
    return new Proxy(engine, {
      get: (target, name: keyof Bridge) => {
        if (name === 'crashMessage') return 'a simulated crash';
        requireAlive(name);
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          requireAlive(name);
          if (!SAFE.has(name) && this.#burns()) {
            hasCrashed = true;
            throw new WebAssembly.RuntimeError('unreachable');
          }
          const answer: unknown = Reflect.apply(value, target, args);
          if (ARRIVALS.has(name)) {
            const { logId, slot } = target;
            arrived({ logId, slot, rowsHash: target.rowsHash() });
          }
          return answer;
        };
      },
    });
  }

  #burns(): boolean {
    this.#fuse -= 1;
    if (this.#fuse > 0) return false;
    this.#fuse = Number.POSITIVE_INFINITY;
    return true;
  }
}
