/** Edge workers in workerd, the runtime behind them, bundled as their own tools bundle them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { TOOLS } from './project.js';

export interface Asked {
  method: string;
  body: string;
}

/** The little that is used of miniflare, which is installed apart from this repository's types. */
export interface Miniflare {
  dispatchFetch(url: string, asked?: Asked): Promise<{ status: number; text(): Promise<string> }>;
  dispose(): Promise<void>;
}

/** Bundles `source` of a project into its folder `worker`, and starts it there. */
export async function startWorker(
  path: string,
  source: string,
  options: Record<string, unknown> = {},
): Promise<Miniflare> {
  const folder = join(path, 'worker');
  await build({
    absWorkingDir: path,
    entryPoints: { main: source },
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    // An import of such a file stays, and workerd resolves it to a compiled module.
    loader: { '.wasm': 'copy' },
    logLevel: 'error',
  });
  const modules = [{ type: 'ESModule', path: join(folder, 'main.js') }];
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.wasm'))) {
    modules.push({ type: 'CompiledWasm', path: join(folder, name) });
  }
  const { Miniflare } = await import(join(TOOLS, 'miniflare/dist/src/index.js'));
  const common = { compatibilityDate: '2026-01-01', modulesRoot: folder, modules };
  return new Miniflare({ ...common, ...options }) as Miniflare;
}

/** Asks a worker; anything but success is an error with what it said. */
export async function ask(worker: Miniflare, path: string, asked?: Asked): Promise<string> {
  const response = await worker.dispatchFetch(`http://worker.test${path}`, asked);
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}
