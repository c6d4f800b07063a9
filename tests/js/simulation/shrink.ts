/** Shortens a world that breaks a promise: leaves out steps as long as the same promise breaks. */
import type { EngineModule } from '../../../pkg/dist/load.js';
import { type Ending, runWorld, type WorldOptions } from './world.js';

/** A failing world, and the steps that it does without. */
export interface Shrunk {
  readonly ending: Ending;
  readonly without: ReadonlySet<number>;
}

const RUNS_MAX = 250;

export async function shrink(
  module: EngineModule,
  ending: Ending,
  options: WorldOptions,
): Promise<Shrunk> {
  let best: Shrunk = { ending, without: options.without ?? new Set() };
  let runs = 0;
  for (let size = ending.steps; size >= 1 && runs < RUNS_MAX; size = Math.floor(size / 2)) {
    for (let from = 0; from < ending.steps && runs < RUNS_MAX; from += size) {
      const without = withRange(best.without, from, Math.min(ending.steps, from + size));
      if (without.size === best.without.size) continue;
      runs += 1;
      const tried = await runWorld(module, { ...options, without });
      if (kindOf(tried.broken) === kindOf(ending.broken)) best = { ending: tried, without };
    }
  }
  return best;
}

/** The promise without its numbers, names and what was seen. */
function kindOf(broken: string | null): string | null {
  const [first = ''] = broken?.split('\n') ?? [];
  return broken === null ? null : first.replace(/[\w-]*\d[\w-]*|[{[].*/g, '');
}

function withRange(steps: ReadonlySet<number>, from: number, to: number): Set<number> {
  const all = new Set(steps);
  for (let step = from; step < to; step += 1) all.add(step);
  return all;
}

/** `0-3,7`: how steps are written in the environment. */
export function shownSteps(steps: ReadonlySet<number>): string {
  const ranges: { from: number; to: number }[] = [];
  for (const step of [...steps].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last?.to === step - 1) last.to = step;
    else ranges.push({ from: step, to: step });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join();
}

export function readSteps(text: string): Set<number> {
  const steps = new Set<number>();
  for (const range of text.split(',').filter((part) => part !== '')) {
    const [from = 0, to = from] = range.split('-').map(Number);
    for (let step = from; step <= to; step += 1) steps.add(step);
  }
  return steps;
}
