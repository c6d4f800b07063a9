// @ts-check
/**
 * Do the store and the server tell the same story? Each request was applied exactly once, or is
 * dead for a cause the server's record confirms; tokens rose with every attempt; nothing is lost
 * or added.
 *
 * The record is the judge: nothing this process remembers is taken into account.
 */
import { contentOf } from './receiver.mjs';

/** @typedef {import('./record.mjs').RecordLine} RecordLine */
/** @typedef {import('./requests.mjs').RecordedRequest} RecordedRequest */
/** @typedef {import('./outcome.mjs').Outcome} Outcome */

/**
 * @param {RecordedRequest[]} requests
 * @param {Outcome} outcome
 * @param {RecordLine[]} record
 * @returns {string[]} what is wrong, one sentence each
 */
export function verify(requests, outcome, record) {
  const { delivered, dead } = outcome;
  const seen = groupById(record);
  const known = new Set(requests.map(({ id }) => id));
  const strangers = new Set([...seen.keys(), ...delivered.keys(), ...dead.keys()]);
  for (const id of known) strangers.delete(id);

  const problems = requests.flatMap((request) => {
    const lines = seen.get(request.id) ?? [];
    const found = [...endProblems(request.id, outcome, lines), ...lineProblems(request, lines)];
    return found.map((problem) => `${request.id} ${problem}`);
  });
  for (const id of strangers) problems.push(`${id} was never asked for`);
  if (delivered.size + dead.size !== requests.length) {
    problems.push(`${delivered.size} delivered + ${dead.size} dead are not ${requests.length}`);
  }
  return problems;
}

/**
 * How it ended.
 * @param {string} id
 * @param {Outcome} outcome
 * @param {RecordLine[]} lines
 */
function* endProblems(id, outcome, lines) {
  const receipt = outcome.delivered.get(id);
  const death = outcome.dead.get(id);
  const applied = lines.filter((line) => line.applied).length;
  const accepted = lines.filter((line) => line.outcome !== 'fenced');
  const last = accepted.at(-1);
  if (receipt && death) yield 'is both delivered and dead';
  if (!receipt && !death) yield 'is lost: neither delivered nor dead';
  if (receipt && applied !== 1) yield `was delivered, and applied ${applied} times`;
  if (receipt && receipt.token !== last?.token) {
    yield `was delivered under token ${receipt.token}, and last came under ${last?.token}`;
  }
  if (death && applied !== 0) yield `is dead (${death.cause}), and was applied ${applied} times`;
  if (death && !(last?.outcome === 'refused' && death.cause.startsWith(`${last.status} `))) {
    yield `is dead (${death.cause}), which the last answer does not confirm (${last?.outcome})`;
  }
  const claims = (receipt ?? death)?.attempt ?? 0;
  if (accepted.length > claims) yield `came ${accepted.length} times under ${claims} claims`;
}

/**
 * How it came there.
 * @param {RecordedRequest} request
 * @param {RecordLine[]} lines
 */
function* lineProblems({ method, path, body }, lines) {
  const content = contentOf(method, path, body === undefined ? '' : JSON.stringify(body));
  let newest = 0;
  for (const [index, line] of lines.entries()) {
    if (line.content !== content) yield `came changed at attempt ${line.attempt}`;
    if (line.attempt !== index + 1) {
      yield `has attempt ${line.attempt} in the record where ${index + 1} is due`;
    }
    if (line.outcome === 'fenced') continue;
    if (line.token <= newest) yield `came under token ${line.token} after ${newest}`;
    newest = line.token;
  }
}

/** @param {RecordLine[]} record */
function groupById(record) {
  /** @type {Map<string, RecordLine[]>} */
  const groups = new Map();
  for (const line of record) groups.set(line.id, [...(groups.get(line.id) ?? []), line]);
  return groups;
}
