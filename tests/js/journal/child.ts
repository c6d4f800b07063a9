/** Real processes for the tests: `child-*.ts`, driven line by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  /**
   * It does not outlive the test. `limit` is the size no file may exceed, in blocks of 512 bytes.
   */
  constructor(context: TestContext, script: string, args: string[], limit?: number) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    const command = [process.execPath, '--import', 'tsx', path, ...args];
    const shell = ['sh', '-c', `ulimit -f ${limit} && exec "$@"`, 'sh', ...command];
    const [program = '', ...rest] = limit === undefined ? command : shell;
    this.process = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = once(this.process, 'close');
    context.after(() => this.kill());
    const { stdout } = this.process;
    if (stdout === null) throw new Error('the child has no output');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** The next line it prints; null when it prints no more. */
  async line(): Promise<string | null> {
    const next = await this.#lines.next();
    return next.done === true ? null : next.value;
  }

  tell(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  /** Tells it something and waits for the answer. */
  async ask(line: string): Promise<string | null> {
    this.tell(line);
    return this.line();
  }

  /** Ends it as a loss of the process would; waits until it is gone. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.#ended;
  }

  /** Lets it end by itself; answers its exit code. */
  async finish(): Promise<number | null> {
    this.process.stdin?.end();
    await this.#ended;
    return this.process.exitCode;
  }
}
