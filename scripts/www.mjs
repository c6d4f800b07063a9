/** `npm run www`: builds the package and the page of `www/`, and serves it on the loopback. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asked } from './asked.mjs';
import { build } from './build.mjs';
import { Failure, Misuse, ROOT } from './command.mjs';
import { script, step } from './step.mjs';

const PORT_DEFAULT = 4_173;
const PORT_MAX = 65_535;
const HELP = `npm run www [-- --port NUMBER]

Builds the package and the page, and serves the page on the loopback interface.

  --port    where it listens, 0 to ${PORT_MAX}; 0 takes a free one (default ${PORT_DEFAULT})`;
/** With these a page may share memory with its threads. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** The page and its threads, each as one file, out of the package as it is published. */
export async function bundlePage() {
  // The trap: in a fresh clone there is no package to import before the build.
  const { build: bundle } = await import('esbuild');
  await step('page and its threads', () =>
    bundle({
      absWorkingDir: ROOT,
      entryPoints: ['www/src/main.ts', 'www/src/thread.ts'],
      outdir: 'www/dist',
      bundle: true,
      splitting: true,
      format: 'esm',
      target: 'es2022',
      logLevel: 'error',
    }),
  );
}

/**
 * Serves the page. Resolves with its address once it is there.
 *
 * @param {number} port 0 takes a free one.
 */
export async function servePage(port) {
  const { default: sirv } = await import('sirv');
  const files = sirv(join(ROOT, 'www'), {
    dev: true,
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
    },
  });
  const server = createServer((request, response) => {
    files(request, response, () => response.writeHead(404).end());
  });
  await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Failure(`Port ${port}: ${error.message}`)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return { origin: `http://localhost:${server.address().port}`, server };
}

async function www() {
  const values = asked(HELP, { options: { port: { type: 'string' } } })?.values;
  if (values === undefined) return;
  const port = Number(values.port ?? PORT_DEFAULT);
  if (!(Number.isInteger(port) && port >= 0 && port <= PORT_MAX)) {
    throw new Misuse(`--port: expected a whole number from 0 to ${PORT_MAX}; got ${values.port}`);
  }
  await build();
  await bundlePage();
  const { origin } = await servePage(port);
  console.log(`\n${origin}/   in as many tabs as you like; Ctrl-C ends it`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await script(www);
