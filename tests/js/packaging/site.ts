/** Pages that use the installed package, under a policy that grants the least it needs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '../browser/browser.js';
import { type Server, siteAt, startServer } from '../browser/server.js';
import { CYCLE } from './cycle.js';

/** WebAssembly may be compiled; no text may become code, and nothing comes from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
].join('; ');

const REPORT_MS_MAX = 60_000;
const POLL_MS = 20;

/** `report(kind, fencepost)`, for any kind of script: runs the cycle, tells the server. */
export const REPORT = `
${CYCLE}
async function report(kind, fencepost, run = () => cycle(fencepost, undefined, kind)) {
  const told = (error) => error + ' ' + error.stack;
  const result = await run().catch(told);
  const body = JSON.stringify({ kind, result });
  const home = globalThis.location?.protocol === 'chrome-extension:' ? origin : '';
  await fetch(home + '/report', { method: 'POST', body });
}
`;

/** `beats(kind, fencepost)`: a cron fires in this script, and a worker of it takes the task. */
export const BEATS = `
function beats(kind, fencepost) {
  return report(kind, fencepost, async () => {
    const store = await fencepost.open(kind);
    const beat = new Promise((resolve) => {
      store.queue('beats').work(({ payload }) => resolve(payload));
    });
    await store.schedule('beat', { cron: '* * * * * *' }, { queue: 'beats', payload: 'beat' });
    const payload = await beat;
    await store.close();
    return payload;
  });
}
`;

/** A page with a module that a bundler reads. */
export const PAGE = '<!doctype html><script type="module" src="./main.js"></script>';

/** Every entry that a page may want; `slim` where the bundler takes the engine's file along. */
export const mainOf = (slim: boolean) => `
import * as fencepost from 'fencepost';
import * as inline from 'fencepost/inline';
import { Engine } from 'fencepost/engine';
import { indexedDb } from 'fencepost/indexeddb';
${slim ? "import * as slim from 'fencepost/slim';\nreport('slim', slim);" : ''}
${REPORT}
report('fencepost', fencepost);
report('inline', inline);
const open = (name) => fencepost.open(name, { journal: indexedDb({ database: 'own' }) });
report('engine', { open: (name) => Engine.load().then(() => open(name)), ...inline });
`;

export function startSite(folder: string): Promise<Server> {
  return startServer(siteAt(folder, { 'content-security-policy': POLICY }));
}

/** Loads the site's page and waits until each of `kinds` has told its result. */
export async function reportsOf(
  page: Page,
  { origin, reports }: Pick<Server, 'origin' | 'reports'>,
  kinds: readonly string[],
): Promise<Record<string, string>> {
  const latest = performance.now() + REPORT_MS_MAX;
  await page.goto(`${origin}/`);
  for (;;) {
    const told = reports as { kind: string; result: string }[];
    const results = Object.fromEntries(told.map(({ kind, result }) => [kind, result]));
    const isDone = kinds.every((kind) => kind in results);
    if (isDone || performance.now() > latest) return results;
    await sleep(POLL_MS);
  }
}
