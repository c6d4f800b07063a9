// @ts-check
/** What a run came to: counted from the store and the server's record, then set in a table. */

import { styleText } from 'node:util';

/** @typedef {import('./record.mjs').RecordLine} RecordLine */
/**
 * @typedef {object} Report
 * @property {import('./outcome.mjs').Outcome} outcome
 * @property {RecordLine[]} record
 * @property {number} killed workers
 * @property {{ entries: number, commands: number, bytes: number }} written
 * @property {{ settled: number, worked_ms: number }} pace of this process
 * @property {string[]} problems
 */

const WIDTH = 76;
const LABEL_CELLS = 14;
const NUMBER_CELLS = 8;

/**
 * @param {Report} report
 * @returns {string} a table within 80 columns
 */
export function table(report) {
  const lines = [
    heading('The queue'),
    ...queueRows(report),
    heading("The server's own record"),
    ...recordRows(report),
    heading('What is seen'),
    ...story(report).map((line) => ` ${line}`),
    ` ${'─'.repeat(WIDTH)}`,
  ];
  return lines.join('\n');
}

/** @param {Report} report */
function story({ record, killed, problems }) {
  const fenced = record.filter(({ outcome }) => outcome === 'fenced');
  if (problems.length > 0) return ['Not what was promised: see below.'];
  return [
    ...killing(killed),
    ...(fenced.length === 0
      ? ['Nobody came late.']
      : [
          'Who came late, when another had claimed the task, came under a token that was',
          `too old: the server told it by that, and turned it away (${fenced.length}).`,
        ]),
  ];
}

/** @param {number} killed */
function killing(killed) {
  if (killed === 0) return ['No worker was killed.'];
  return [
    killed === 1
      ? 'A worker was killed in the middle of its work. Others claimed what it left,'
      : `${killed} workers were killed at work. Others claimed what they left,`,
    'under larger tokens. Nothing was lost, and nothing was applied twice.',
  ];
}

/** @param {Report} report */
function queueRows({ outcome, record, killed, written, pace }) {
  const delivered = outcome.delivered.size;
  const dead = outcome.dead.size;
  const attempts = [...outcome.delivered.values(), ...outcome.dead.values()].map((o) => o.attempt);
  const retried = attempts.filter((count) => count > 1).length;
  const total = attempts.reduce((sum, count) => sum + count, 0);
  const tokens = record.map(({ token }) => token);
  return [
    row('requests', delivered + dead),
    row('delivered', delivered, `${share(delivered, delivered + dead)} of all`),
    row('retried', retried, 'took more than one attempt'),
    row('dead', dead, dead === 0 ? '' : 'refused for good:'),
    ...causes(outcome).map(([cause, count]) => row('', count, cause)),
    row('attempts', total, `at most ${Math.max(0, ...attempts)} for one request`),
    row('killed', killed, 'workers in the middle of their work'),
    row('tokens', '', tokens.length === 0 ? 'none' : span(tokens)),
    row('written', written.entries, `entries with ${written.commands} commands, ${size(written)}`),
    row('speed', ...speed(pace)),
  ];
}

/** @param {Report} report */
function recordRows({ record, problems }) {
  const count = (/** @type {string} */ outcome) =>
    record.filter((line) => line.outcome === outcome).length;
  return [
    row('seen', record.length, 'requests, over all starts of this run'),
    row('applied', record.filter(({ applied }) => applied).length),
    row('repeated', count('repeated'), 'recognised, and not applied again'),
    row('fenced off', count('fenced'), 'came under a token that was too old'),
    row('verdict', '', verdict(problems)),
  ];
}

/** @param {string[]} problems */
function verdict(problems) {
  if (problems.length === 0) return paint('green', 'agrees with the queue');
  return paint('red', 'DISAGREES with the queue');
}

/** @param {Report['outcome']} outcome */
function causes({ dead }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { cause } of dead.values()) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].sort();
}

/** @param {string} text */
function heading(text) {
  return ` ── ${paint('bold', text)} ${'─'.repeat(WIDTH - text.length - 4)}`;
}

/**
 * @param {'bold' | 'green' | 'red'} style
 * @param {string} text
 */
function paint(style, text) {
  const isColourful = process.stdout.isTTY && process.stdout.hasColors();
  return isColourful ? styleText(style, text) : text;
}

/**
 * @param {string} label
 * @param {number | string} number
 * @param {string} [remark]
 */
function row(label, number, remark = '') {
  const cells = ` ${label.padEnd(LABEL_CELLS)}${String(number).padStart(NUMBER_CELLS)}`;
  return `${cells}   ${remark}`.trimEnd();
}

/** @param {number[]} tokens */
function span(tokens) {
  const inOrder = tokens.toSorted((a, b) => a - b);
  return `${inOrder[0]} to ${inOrder.at(-1)}`;
}

/**
 * @param {{ settled: number, worked_ms: number }} pace
 * @returns {[string, string]}
 */
function speed({ settled, worked_ms }) {
  if (settled === 0) return ['–', 'nothing was left to do'];
  const seconds = worked_ms / 1000;
  const remark = `tasks/s: ${settled} settled in ${seconds.toFixed(1)} s by this process`;
  return [(settled / seconds).toFixed(1), remark];
}

/** @param {{ bytes: number }} written */
function size({ bytes }) {
  return `${(bytes / 1024).toFixed(0)} KiB on disk`;
}

/**
 * @param {number} part
 * @param {number} whole
 */
function share(part, whole) {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;
}
