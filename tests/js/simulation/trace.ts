/** What happened in a world, line by line: what is printed, and what two runs must agree on. */
import { createHash } from 'node:crypto';

export class Trace {
  readonly lines: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  tell(who: string, what: string): void {
    this.lines.push(`${String(this.#now()).padStart(9)} ms  ${who.padEnd(7)} ${what}`);
  }

  /** Names the whole trace. */
  get hash(): string {
    return createHash('sha256').update(this.lines.join('\n')).digest('hex').slice(0, 16);
  }
}

/** An answer on one line. */
export function shown(value: unknown): string {
  if (value instanceof Error) {
    const code = 'code' in value ? String(value.code) : value.name;
    return `${code}: ${value.message}`;
  }
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
