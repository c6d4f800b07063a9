/** The planted bugs: each can still be put in, and a table tells what finds it. */
import { type Check, matching } from './files.js';

const LIST = 'tests/planted/bugs.json';
const TABLE = 'tests/README.md';
/** The suite that every journal has to pass has its tests' names here. */
const SUITE = /^pkg\/src\/testing\//;

interface Bug {
  bug: string;
  file: string;
  find: string;
  replace: string;
  by: string;
  test: string;
}

/** A line of the table: what goes wrong, where, and the test that finds it. */
function rowOf({ bug, file, by, test }: Bug): string {
  const finder = by.replace(/^tests\/(?:js\/)?/, '').replace(/(?:\.test)?\.(?:rs|ts)$/, '');
  return `| ${bug} | \`${file}\` | \`${finder}\`: ${test} |`;
}

export const bugsCanBePlanted: Check = (files) => {
  const bugs = JSON.parse(files.get(LIST) ?? '[]') as Bug[];
  const suite = matching(files, SUITE).map(([, text]) => text);
  const rows = new Set((files.get(TABLE) ?? '').split('\n'));
  const known = bugs.flatMap((bug) => {
    const places = (files.get(bug.file) ?? '').split(bug.find).length - 1;
    const isThere = [files.get(bug.by) ?? '', ...suite].some((text) => text.includes(bug.test));
    return [
      ...(places === 1 ? [] : [`${bug.bug}: fits ${places} places of ${bug.file}, not 1`]),
      ...(bug.find === bug.replace ? [`${bug.bug}: changes nothing`] : []),
      ...(isThere ? [] : [`${bug.bug}: ${bug.by} has no test "${bug.test}"`]),
      ...(rows.has(rowOf(bug)) ? [] : [`${TABLE}: lacks\n${rowOf(bug)}`]),
    ];
  });
  return bugs.length === 0 ? [`${LIST}: no bugs found`] : known;
};
