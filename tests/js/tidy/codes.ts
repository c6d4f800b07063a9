/** The error codes: one list, told in Rust, in TypeScript and to the reader. */
import type { Check, Files } from './files.js';

const RUST = 'src/error.rs';
const TYPESCRIPT = 'pkg/src/errors.ts';
const README = 'README.md';

/** Codes and kinds are the same on both sides of the border. */
export const codesAgree: Check = (files) => {
  const rust = rustCodes(files);
  const typescript = typescriptCodes(files);
  const all = [...new Set([...rust.keys(), ...typescript.keys()])];
  const differing = all.filter((code) => rust.get(code) !== typescript.get(code));
  const tell = (kind: string | undefined) => kind ?? 'nothing';
  return [
    ...nothingIn(rust, RUST),
    ...nothingIn(typescript, TYPESCRIPT),
    ...differing.map((code) => {
      const kinds = [tell(rust.get(code)), tell(typescript.get(code))];
      return `${code}: ${kinds[0]} in ${RUST}, ${kinds[1]} in ${TYPESCRIPT}`;
    }),
  ];
};

/** A code that can be thrown can be looked up: the table of the README has it. */
export const codesAreExplained: Check = (files) => {
  const rows = (files.get(README) ?? '').split('\n').filter((line) => line.startsWith('|'));
  const explained = new Set(rows.flatMap((row) => row.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []));
  const codes = rustCodes(files);
  const missing = [...codes.keys()].filter((code) => !explained.has(code));
  return [
    ...nothingIn(codes, RUST),
    ...missing.map((code) => `${README}: no table row explains ${code}`),
  ];
};

/** Rows such as `TaskGone "TASK_GONE" Ended,`. */
function rustCodes(files: Files): Map<string, string> {
  const rows = (files.get(RUST) ?? '').matchAll(/^\s*\w+\s+"([A-Z_]+)"\s+(\w+),/gm);
  return new Map([...rows].map(([, code = '', kind = '']) => [code, kind.toLowerCase()]));
}

/** Rows such as `TASK_GONE: 'ended',`. */
function typescriptCodes(files: Files): Map<string, string> {
  const rows = (files.get(TYPESCRIPT) ?? '').matchAll(/^\s*([A-Z_]+): '(\w+)',/gm);
  return new Map([...rows].map(([, code = '', kind = '']) => [code, kind]));
}

/** A list that can't be read any more must not pass for an empty one. */
function nothingIn(codes: Map<string, string>, path: string): string[] {
  return codes.size === 0 ? [`${path}: no error codes found`] : [];
}
