/** The example as a user runs it: a process of its own, with what it prints and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../examples/deliver/main.mjs', import.meta.url));

export interface Ended {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

export class DeliverProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly ended: Promise<Ended>;
  #isOver = false;

  constructor(...options: string[]) {
    const child = spawn(process.execPath, [MAIN, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.#lines.push(line));
    const errors: Buffer[] = [];
    child.stderr.on('data', (bytes) => errors.push(bytes));
    this.ended = once(child, 'close').then(([code, signal]) => {
      this.#isOver = true;
      const stderr = Buffer.concat(errors).toString();
      return { code, signal, stdout: this.#lines.join('\n'), stderr };
    });
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether the condition came true before the process ended. */
  async reaches(condition: () => boolean): Promise<boolean> {
    while (!this.#isOver) {
      if (condition()) return true;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return false;
  }

  signal(name: 'SIGKILL' | 'SIGINT' | 'SIGTERM'): Promise<Ended> {
    this.#child.kill(name);
    return this.ended;
  }
}

export function runToItsEnd(...options: string[]): Promise<Ended> {
  return new DeliverProcess(...options).ended;
}
