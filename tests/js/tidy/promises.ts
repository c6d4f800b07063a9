/** The promises: a numbered list that the tests cite and whose answers a table tells. */
import { type Check, linesOf, matching } from './files.js';

const PROMISES = 'tests/PROMISES.md';
const TABLE = 'tests/README.md';
const CITING = /^tests\/.*\.(rs|ts)$/;
/** `promise 19`, `Promises 1 to 8, 46 and 47`. */
const CITATION = /\b[Pp]romises? (\d+(?:(?:, | and | to )\d+)*)/g;

/** Every number that is cited or answered is that of a promise, and every promise is answered. */
export const promisesAreThere: Check = (files) => {
  const promised = numbersAt(files.get(PROMISES), /^(\d+)\. /gm);
  const answered = numbersAt(files.get(TABLE), /^\| (\d+) /gm);
  const gap = promised.findIndex((number, at) => number !== at + 1);
  const cited = matching(files, CITING).flatMap(([path, text]) =>
    linesOf(path, text).flatMap(({ place, line }) =>
      [...line.matchAll(CITATION)]
        .flatMap(([, list]) => numbersAt(list, /(\d+)/g))
        .map((number) => ({ place, number })),
    ),
  );
  return [
    ...(promised.length === 0 ? [`${PROMISES}: no promise found`] : []),
    ...(gap < 0 ? [] : [`${PROMISES}: ${promised[gap]} stands where ${gap + 1} is due`]),
    ...promised
      .filter((number) => !answered.includes(number))
      .map((number) => `${TABLE}: no row answers for promise ${number}`),
    ...[...cited, ...answered.map((number) => ({ place: TABLE, number }))]
      .filter(({ number }) => !promised.includes(number))
      .map(({ place, number }) => `${place}: there is no promise ${number}`),
  ];
};

function numbersAt(text: string | undefined, pattern: RegExp): number[] {
  return [...(text ?? '').matchAll(pattern)].map(([, number]) => Number(number));
}
