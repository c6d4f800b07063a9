/** The error codes: one list, told in Rust, in TypeScript and to the reader. */
import { disagreements, nothingIn, type Told } from './both-sides.js';
import type { Check, Files } from './files.js';

const RUST = 'src/error.rs';
const TYPESCRIPT = 'pkg/src/errors.ts';
const README = 'README.md';

/** Codes and kinds are the same on both sides of the border. */
export const codesAgree: Check = (files) =>
  disagreements('error codes', rustCodes(files), typescriptCodes(files));

/** A code that can be thrown can be looked up: the table of the README has it. */
export const codesAreExplained: Check = (files) => {
  const rows = (files.get(README) ?? '').split('\n').filter((line) => line.startsWith('|'));
  const explained = new Set(rows.flatMap((row) => row.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []));
  const codes = rustCodes(files);
  const missing = [...codes.list.keys()].filter((code) => !explained.has(code));
  return [
    ...nothingIn('error codes', codes),
    ...missing.map((code) => `${README}: no table row explains ${code}`),
  ];
};

/** Rows such as `TaskGone "TASK_GONE" Ended,`. */
function rustCodes(files: Files): Told {
  const rows = (files.get(RUST) ?? '').matchAll(/^\s*\w+\s+"([A-Z_]+)"\s+(\w+),/gm);
  const list = new Map([...rows].map(([, code = '', kind = '']) => [code, kind.toLowerCase()]));
  return { path: RUST, list };
}

/** Rows such as `TASK_GONE: 'ended',`. */
function typescriptCodes(files: Files): Told {
  const rows = (files.get(TYPESCRIPT) ?? '').matchAll(/^\s*([A-Z_]+): '(\w+)',/gm);
  return {
    path: TYPESCRIPT,
    list: new Map([...rows].map(([, code = '', kind = '']) => [code, kind])),
  };
}
