/** The operations of the border: one list of numbers, told in Rust and in TypeScript. */
import type { Check, Files } from './files.js';

const RUST = 'src/wasm/operations.rs';
const TYPESCRIPT = 'pkg/src/operations.ts';

/** Whoever packs a request names the operation that reads it. */
export const operationsAgree: Check = (files) => {
  // Rows such as `4 QueueEnqueue queue::enqueue,`, and `export const queueEnqueue = 4;`.
  const rust = numbered(files, RUST, /^\s*(?<number>\d+) (?<name>\w+) [\w:]+,$/gm);
  const typescript = numbered(files, TYPESCRIPT, /^export const (?<name>\w+) = (?<number>\d+);$/gm);
  const all = [...new Set([...rust.keys(), ...typescript.keys()])];
  const differing = all.filter((name) => rust.get(name) !== typescript.get(name));
  const tell = (number: string | undefined) => number ?? 'nothing';
  return [
    ...faultsOf(rust, RUST),
    ...faultsOf(typescript, TYPESCRIPT),
    ...differing.map((name) => {
      const numbers = [tell(rust.get(name)), tell(typescript.get(name))];
      return `${name}: ${numbers[0]} in ${RUST}, ${numbers[1]} in ${TYPESCRIPT}`;
    }),
  ];
};

function numbered(files: Files, path: string, row: RegExp): Map<string, string> {
  const rows = [...(files.get(path) ?? '').matchAll(row)].map(({ groups = {} }) => groups);
  return new Map(rows.map(({ name = '', number = '' }) => [lowered(name), number]));
}

function lowered(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** A list that can't be read any more must not pass for an empty one. */
function faultsOf(operations: Map<string, string>, path: string): string[] {
  if (operations.size === 0) return [`${path}: no operations found`];
  const numbers = [...operations.values()];
  const isTaken = (number: string, at: number) => numbers.indexOf(number) < at;
  return numbers.filter(isTaken).map((number) => `${path}: two operations have number ${number}`);
}
