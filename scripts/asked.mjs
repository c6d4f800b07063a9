/** What a script was asked for: options and groups. Anything else is refused in one line. */
import { parseArgs } from 'node:util';
import { Misuse } from './command.mjs';

/**
 * Reads the command line. `--help` prints the help, and there is nothing to do: null.
 *
 * @param {string} help
 * @param {object} [known]
 * @param {import('node:util').ParseArgsConfig['options']} [known.options]
 * @param {string[]} [known.groups] Words that may stand there, any number of them.
 */
export function asked(help, { options = {}, groups = [] } = {}) {
  const { values, positionals } = parse({ ...options, help: { type: 'boolean' } });
  if (values.help) {
    console.log(help);
    return null;
  }
  const unknown = positionals.find((word) => !groups.includes(word));
  if (unknown === undefined) return { values, groups: positionals };
  const there = groups.length > 0 ? `a group: ${groups.join(', ')}` : 'no such word';
  throw new Misuse(`expected ${there}; got ${unknown}`);
}

/** A whole number from 1 on, as an option or by default. */
export function positive(name, text, fallback) {
  if (text === undefined) return fallback;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Misuse(`--${name}: expected a whole number from 1 on; got ${text}`);
}

function parse(options) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS_')) throw error;
    // Node goes on with hints that take several sentences.
    throw new Misuse(error.message.split('. ')[0]);
  }
}
