/** The operations of the border: one list of numbers, told in Rust and in TypeScript. */
import { disagreements, type Told } from './both-sides.js';
import type { Check, Files } from './files.js';

/** Whoever packs a request names the operation that reads it. */
export const operationsAgree: Check = (files) => {
  // Rows such as `4 QueueEnqueue queue::enqueue,`, and `export const queueEnqueue = 4;`.
  const rust = numbered(
    files,
    'src/wasm/operations.rs',
    /^\s*(?<number>\d+) (?<name>\w+) [\w:]+,$/gm,
  );
  const typescript = numbered(
    files,
    'pkg/src/operations.ts',
    /^export const (?<name>\w+) = (?<number>\d+);$/gm,
  );
  return [
    ...disagreements('operations', rust, typescript),
    ...takenTwice(rust),
    ...takenTwice(typescript),
  ];
};

function numbered(files: Files, path: string, row: RegExp): Told {
  const rows = [...(files.get(path) ?? '').matchAll(row)].map(({ groups = {} }) => groups);
  const list = new Map(rows.map(({ name = '', number = '' }) => [lowered(name), number]));
  return { path, list };
}

function lowered(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function takenTwice({ path, list }: Told): string[] {
  const numbers = [...list.values()];
  const again = numbers.filter((number, at) => numbers.indexOf(number) < at);
  return again.map((number) => `${path}: two operations have number ${number}`);
}
