// @ts-check
/**
 * What a run shows while it works: one line that is rewritten on a terminal, now and then a line
 * elsewhere. Notes go above it. A quiet one shows nothing.
 */

/** @typedef {import('./attempt.mjs').Verdict} Verdict */

const TERMINAL_EVERY_MS = 100;
const LINES_EVERY_MS = 1_000;
const BAR_CELLS = 14;
/** Before that, a rate says nothing. */
const RATE_AFTER_MS = 500;

export class Progress {
  #quiet;
  #isTerminal = process.stdout.isTTY === true;
  #total = 0;
  #delivered = 0;
  #dead = 0;
  #retries = 0;
  #running = 0;
  #settledHere = 0;
  #startedAt = 0;
  #shownAt = 0;
  #shown = '';

  /** @param {{ quiet: boolean }} options */
  constructor({ quiet }) {
    this.#quiet = quiet;
  }

  /** @param {string} text */
  note(text) {
    if (this.#quiet) return;
    this.#erase();
    process.stdout.write(`${text}\n`);
    if (this.#isTerminal) process.stdout.write(this.#shown);
  }

  /** @param {{ total: number, delivered: number, dead: number }} found what earlier starts did */
  start({ total, delivered, dead }) {
    this.#total = total;
    this.#delivered = delivered;
    this.#dead = dead;
    this.#startedAt = performance.now();
  }

  /** @param {Verdict['kind']} kind */
  count(kind) {
    if (kind === 'again') this.#retries += 1;
    else this.#settledHere += 1;
    if (kind === 'delivered') this.#delivered += 1;
    if (kind === 'refused') this.#dead += 1;
  }

  /** @param {{ running: number }} now */
  update({ running }) {
    this.#running = running;
    const every_ms = this.#isTerminal ? TERMINAL_EVERY_MS : LINES_EVERY_MS;
    if (performance.now() - this.#shownAt >= every_ms) this.#show();
  }

  /** Leaves the last state on the screen. */
  end() {
    this.#running = 0;
    this.#show();
    if (this.#isTerminal && this.#shown !== '') process.stdout.write('\n');
    this.#shown = '';
  }

  /**
   * @param {number} share of all tasks, from 0 to 1
   * @returns {boolean} whether as many are settled
   */
  has(share) {
    return this.#delivered + this.#dead >= Math.floor(this.#total * share);
  }

  /** Tasks settled and time worked by this process. */
  get pace() {
    return { settled: this.#settledHere, worked_ms: performance.now() - this.#startedAt };
  }

  #show() {
    if (this.#quiet) return;
    this.#shownAt = performance.now();
    const { settled, worked_ms } = this.pace;
    const done = this.#delivered + this.#dead;
    const numbers = [
      `${String(done).padStart(String(this.#total).length)}/${this.#total}`,
      `${this.#delivered} delivered`,
      `${this.#dead} dead`,
      `${this.#retries} retries`,
      `${this.#running} running`,
      ...(worked_ms < RATE_AFTER_MS ? [] : [`${Math.round((settled / worked_ms) * 1000)}/s`]),
    ].join('  ');
    if (!this.#isTerminal) {
      process.stdout.write(`progress ${numbers}\n`);
      return;
    }
    const filled = Math.round((done / Math.max(this.#total, 1)) * BAR_CELLS);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled);
    this.#erase();
    this.#shown = `${bar} ${numbers}`.slice(0, (process.stdout.columns || 80) - 1);
    process.stdout.write(this.#shown);
  }

  #erase() {
    if (this.#isTerminal && this.#shown !== '') process.stdout.write('\r\x1b[K');
  }
}
