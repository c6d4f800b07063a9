/** What tests do with a browser, whichever it is. */

/** A tab. */
export interface Page {
  goto(url: string): Promise<void>;
  /** Goes back to where the tab was before. */
  back(): Promise<void>;
  /** Evaluates an expression; a promise is waited for. Answers a string. */
  evaluate(expression: string): Promise<string>;
  /** A command of the DevTools protocol, where there is one. */
  devtools?(command: string, parameters: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

/** A running browser. */
export interface Browser {
  newPage(): Promise<Page>;
  /** A tab that shares nothing with others, where the browser has them beside ordinary ones. */
  newPrivatePage?(): Promise<Page>;
  stop(): Promise<void>;
  /** SIGKILL to all of its processes. */
  kill(): Promise<void>;
}

export interface BrowserKind {
  readonly name: string;
  /** `profile`: an existing directory, which a later browser may be given again. */
  start(profile: string): Promise<Browser>;
}

const STEPS = '/tests/js/browser/page/steps.js';

/** Calls a function of the page's module `steps.js`. Arguments and result travel as JSON. */
export async function call<T>(page: Page, step: string, ...args: unknown[]): Promise<T> {
  const list = JSON.stringify(args);
  const answer = await page.evaluate(
    `import('${STEPS}')` +
      `.then(async (steps) => ({ value: await steps.${step}(...${list}) }))` +
      ".catch((error) => ({ error: error + '\\n' + error.stack }))" +
      '.then((answer) => JSON.stringify(answer))',
  );
  const { value, error } = JSON.parse(answer) as { value: T; error?: string };
  if (error !== undefined) throw new Error(`${step} in the page: ${error}`);
  return value;
}
