/** How long a file and a line may be. Functions are measured by clippy and Biome. */
import { type Check, linesOf, matching } from './files.js';

const FILE_LINES_MAX = 400;
const LINE_COLUMNS_MAX = 100;
const CODE = /\.(rs|ts|mjs)$/;

/** Files that may be longer, each with the reason why it is not two. */
const LONG_FILES: Record<string, string> = {};

export const fileSizes: Check = (files) =>
  matching(files, CODE)
    .map(([path, text]) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ path, lines }) => lines > FILE_LINES_MAX && !Object.hasOwn(LONG_FILES, path))
    .map(({ path, lines }) => `${path}: ${lines} lines; ${FILE_LINES_MAX} are enough for one noun`);

/** A file that became short again must leave the list. */
export const longFilesAreLong: Check = (files) =>
  Object.keys(LONG_FILES)
    .filter((path) => (files.get(path) ?? '').trimEnd().split('\n').length <= FILE_LINES_MAX)
    .map((path) => `${path}: is listed as long, but is not`);

/** The formatters break code, but neither comments nor strings. */
export const lineLengths: Check = (files) =>
  matching(files, CODE)
    .flatMap(([path, text]) => linesOf(path, text))
    .filter(({ line }) => [...line].length > LINE_COLUMNS_MAX)
    .map(({ place, line }) => `${place}: ${[...line].length} columns of ${LINE_COLUMNS_MAX}`);
