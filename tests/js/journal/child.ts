/** Real processes for the tests: `child-*.ts`, driven line by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const scripts = new Map<string, string>();

/**
 * A script as JavaScript, made once: a loader for TypeScript would cost every start more than all
 * that the script does. The package itself is not taken in.
 */
export function compiled(script: URL): string {
  const path = fileURLToPath(script);
  const known = scripts.get(path);
  if (known !== undefined) return known;
  const outfile = join(ROOT, `target/children/${basename(path, '.ts')}-${process.pid}.mjs`);
  buildSync({
    entryPoints: [path],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'node20',
    packages: 'external',
    external: [join(ROOT, 'pkg/dist/*')],
  });
  process.once('exit', () => rmSync(outfile, { force: true }));
  scripts.set(path, outfile);
  return outfile;
}

export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  /**
   * It does not outlive the test. `limit` is the size no file may exceed, in blocks of 512 bytes;
   * `under` is a program that starts it, with its arguments.
   */
  constructor(
    context: TestContext,
    script: string,
    args: string[],
    { limit, under = [] }: { limit?: number; under?: string[] } = {},
  ) {
    const path = compiled(new URL(script, import.meta.url));
    const command = [...under, process.execPath, path, ...args];
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
