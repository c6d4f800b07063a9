/**
 * A program in a process group of its own, on a leash: whatever ends this process, even SIGKILL,
 * ends the group. A browser is many processes, and none may be left over.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** The shell waits for the end of its input, which this process holds open. */
const LEASH = '"$@" </dev/null & cat >/dev/null; kill -KILL 0';
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 3_000;
const PRINTED_CHARS_MAX = 4_000;

export class Leashed {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #printed = '';
  #hasEnded = false;

  constructor(program: string, args: readonly string[], env: Record<string, string> = {}) {
    this.#child = spawn('sh', ['-c', LEASH, 'leash', program, ...args], {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const keep = (text: string) => {
      this.#printed = (this.#printed + text).slice(-PRINTED_CHARS_MAX);
    };
    this.#child.stdout?.setEncoding('utf8').on('data', keep);
    this.#child.stderr?.setEncoding('utf8').on('data', keep);
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#hasEnded = true;
        resolve();
      });
    });
  }

  /** Waits until the program has printed something like `pattern`. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const found = await this.until(async () => pattern.exec(this.#printed));
    return found;
  }

  /** Asks until the answer is something. */
  async until<T>(ask: () => Promise<T | null>): Promise<T> {
    const latest = performance.now() + START_MS_MAX;
    while (performance.now() < latest && !this.#hasEnded) {
      const answer = await ask();
      if (answer !== null) return answer;
      await sleep(20);
    }
    throw new Error(`the browser did not start; it printed:\n${this.#printed}`);
  }

  /** Lets the group tidy up, for a moment. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM');
    await this.#gone();
    await this.kill();
  }

  /** SIGKILL to the whole group, at this moment. Then none of it writes any more. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#ended;
    await this.#gone();
  }

  /** Waits for a moment until nothing of the group is left. */
  async #gone(): Promise<void> {
    const latest = performance.now() + STOP_MS_MAX;
    while (this.#signal(0) && performance.now() < latest) await sleep(20);
  }

  /** Whether anything of the group is left. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  }
}
