/** How long a file and a line may be. Functions are measured by clippy and Biome. */
import { type Check, linesOf, matching } from './files.js';

const CODE = /\.(rs|[cm]?[jt]s)$/;
const FILE_LINES_MAX = 400;
/** A test file is a list of cases, each read by itself. */
const TEST_FILE_LINES_MAX = 600;
const LINE_COLUMNS_MAX = 100;
/** A command of a test script is one line together with its answer. */
const SCRIPT_LINE = /^\s+(\d+(ms|s|m|h|d)|caller) /;

/** Files that may be longer, each with the reason why it is not two. */
const LONG_FILES: Record<string, string> = {};

/** A file is as short as it should be, or is listed; a file that became short again is not. */
export function fileSizes(longFiles = LONG_FILES): Check {
  return (files) => {
    const tooLong = matching(files, CODE)
      .map(([path, text]) => ({ path, lines: lineCount(text), max: linesMax(path) }))
      .filter(({ path, lines, max }) => lines > max && !Object.hasOwn(longFiles, path))
      .map(({ path, lines, max }) => `${path}: ${lines} lines; ${max} are enough for one noun`);
    const shortAgain = Object.keys(longFiles)
      .filter((path) => lineCount(files.get(path) ?? '') <= linesMax(path))
      .map((path) => `${path}: is listed as long, but is not`);
    return [...tooLong, ...shortAgain];
  };
}

/** The formatters break code, but neither comments nor strings. */
export const lineLengths: Check = (files) =>
  matching(files, CODE)
    .flatMap(([path, text]) => linesOf(path, text))
    .filter(({ line }) => [...line].length > LINE_COLUMNS_MAX && !SCRIPT_LINE.test(line))
    .map(({ place, line }) => `${place}: ${[...line].length} columns of ${LINE_COLUMNS_MAX}`);

function lineCount(text: string): number {
  return text.trimEnd().split('\n').length;
}

function linesMax(path: string): number {
  return path.startsWith('tests/') ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
}
