/**
 * WebKitGTK's small browser on a virtual display, over the WebDriver protocol.
 *
 * The trap: the protocol has one current window for all commands and waits for a script's end, so
 * tabs take turns, and work that takes its time is started and asked for later.
 */
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserKind, Page } from './browser.js';
import { Leashed } from './leash.js';

const LIBRARIES = '/usr/lib';
const MINI_BROWSER = 'webkit2gtk-4.1/MiniBrowser';
const POLL_MS = 10;
/** Without `eval`, which a page's security policy may forbid. */
const startJob = (expression: string) => `const answers = (window.answers ??= {});
  Promise.resolve((${expression})).then((answer) => { answers[arguments[0]] = answer })`;
const ASK_JOB = 'return window.answers?.[arguments[0]] ?? null';

export const webkit: BrowserKind = {
  name: 'WebKitGTK',
  async start(profile: string): Promise<Browser> {
    const port = await freePort();
    const program = new Leashed('xvfb-run', ['-a', 'WebKitWebDriver', `--port=${port}`], {
      // What the browser keeps lies below these.
      XDG_DATA_HOME: profile,
      XDG_CACHE_HOME: profile,
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    });
    const driver = new Driver(`http://127.0.0.1:${port}`);
    await program.until(() => driver.command('GET', '/status').catch(() => null));
    await driver.begin(miniBrowser());
    return {
      newPage: () => driver.newPage(),
      stop: () => program.stop(),
      kill: () => program.kill(),
    };
  },
};

class Driver {
  readonly #address: string;
  #session = '';
  #firstWindow: unknown = null;
  #turn: Promise<unknown> = Promise.resolve();
  #jobs = 0;

  constructor(address: string) {
    this.#address = address;
  }

  async begin(binary: string): Promise<void> {
    const options = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } };
    const body = { capabilities: { alwaysMatch: options } };
    const { sessionId } = (await this.command('POST', '/session', body)) as { sessionId: string };
    this.#session = `/session/${sessionId}`;
    this.#firstWindow = await this.command('GET', `${this.#session}/window`);
  }

  async newPage(): Promise<Page> {
    // The first window is left alone: without any the session would be over.
    const handle = await this.#inTurn(() => this.#newWindow());
    return {
      goto: async (url) => {
        await this.#inWindow(handle, 'POST', '/url', { url });
      },
      back: async () => {
        await this.#inWindow(handle, 'POST', '/back', {});
      },
      evaluate: (expression) => this.#evaluate(handle, expression),
      close: async () => {
        await this.#inWindow(handle, 'DELETE', '/window');
      },
    };
  }

  async command(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.#address + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string } | null };
    if (value?.error !== undefined) throw new Error(`${path}: ${JSON.stringify(value)}`);
    return value;
  }

  async #newWindow(): Promise<string> {
    // The current window may be one that was closed.
    await this.command('POST', `${this.#session}/window`, { handle: this.#firstWindow });
    const created = await this.command('POST', `${this.#session}/window/new`, { type: 'tab' });
    return (created as { handle: string }).handle;
  }

  async #evaluate(handle: string, expression: string): Promise<string> {
    const execute = (script: string, args: unknown[]) =>
      this.#inWindow(handle, 'POST', '/execute/sync', { script, args });
    this.#jobs += 1;
    const job = this.#jobs;
    await execute(startJob(expression), [job]);
    for (;;) {
      const answer = await execute(ASK_JOB, [job]);
      if (typeof answer === 'string') return answer;
      await sleep(POLL_MS);
    }
  }

  #inWindow(handle: string, method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#inTurn(async () => {
      await this.command('POST', `${this.#session}/window`, { handle });
      return this.command(method, this.#session + path, body);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** Debian keeps it below the name of the machine's architecture. */
function miniBrowser(): string {
  const folders = readdirSync(LIBRARIES).filter((name) => name.endsWith('-linux-gnu'));
  const paths = folders.map((folder) => join(LIBRARIES, folder, MINI_BROWSER));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${MINI_BROWSER} is not there`);
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
