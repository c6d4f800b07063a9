/**
 * A static server on the loopback interface: the built package, the examples and the pages of the
 * tests, unless it is given another site. It also keeps what pages report, so that it outlives the
 * browser that sent it.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = '/tests/js/browser/page/';
const SERVED = ['/pkg/dist/', '/pkg/wasm/', '/examples/', PAGES];
/** Workers know no import map: in the pages of the tests each name is replaced by its path. */
const BARE_IMPORT = /from '(fencepost[^']*)'/g;
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** What the manifest says of an entry, as far as browsers go. */
type Target = string | { default?: Target };

/** What a server serves. */
export interface Site {
  /** `path` begins with a slash and leads nowhere else. Null: there is no such file. */
  contentOf(path: string): Promise<Buffer | string | null>;
  /** Sent with every answer. */
  readonly headers: Record<string, string>;
}

export interface Server {
  /** Without a slash at its end. One server keeps its origin. */
  readonly origin: string;
  /** What pages have sent to `/report`, in the order of arrival. */
  readonly reports: unknown[];
  close(): Promise<void>;
}

export async function startServer(site: Site = repository): Promise<Server> {
  const reports: unknown[] = [];
  const server = createServer((request, response) => {
    answer(request, response, { site, reports }).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    reports,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { site, reports }: { site: Site; reports: unknown[] },
): Promise<void> {
  const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
  if (request.method === 'POST' && path === '/report') {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    reports.push(JSON.parse(body));
    response.writeHead(204).end();
    return;
  }
  const found = await site.contentOf(path);
  if (found === null) {
    response.writeHead(404).end();
    return;
  }
  const type = TYPES[path.endsWith('/') ? '.html' : extname(path)] ?? 'application/octet-stream';
  const headers = { 'content-type': type, 'cache-control': 'no-cache', ...site.headers };
  response.writeHead(200, headers).end(found);
}

/** A folder with an `index.html`. */
export function siteAt(folder: string, headers: Record<string, string>): Site {
  return {
    headers,
    contentOf: (path) =>
      readFile(join(folder, path.replace(/\/$/, '/index.html'))).catch(() => null),
  };
}

const repository: Site = {
  headers: {},
  async contentOf(path) {
    if (path === '/') return blankPage(await exportedEntries());
    if (!SERVED.some((folder) => path.startsWith(folder))) return null;
    const content = await readFile(join(ROOT, path)).catch(() => null);
    if (content === null || !path.startsWith(PAGES)) return content;
    const entries = await exportedEntries();
    return content.toString().replace(BARE_IMPORT, (whole, entry) => {
      const target = entries.get(entry);
      return target === undefined ? whole : `from '${target}'`;
    });
  },
};

/** Every entry of the package, as the manifest exports it. */
async function exportedEntries(): Promise<ReadonlyMap<string, string>> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, Target>;
  };
  const entries = new Map<string, string>();
  for (const [entry, target] of Object.entries(manifest.exports)) {
    const path = typeof target === 'string' ? undefined : moduleAt(target);
    if (path !== undefined) entries.set(entry.replace(/^\./, 'fencepost'), path);
  }
  return entries;
}

/** Where a browser finds the module, from the root of the site. */
function moduleAt(target: Target | undefined): string | undefined {
  return typeof target === 'object' ? moduleAt(target.default) : target?.replace(/^\./, '');
}

/** An empty page on which `import('fencepost')` works. */
function blankPage(entries: ReadonlyMap<string, string>): string {
  const map = JSON.stringify({ imports: Object.fromEntries(entries) });
  return `<!doctype html><title>test</title><script type="importmap">${map}</script>`;
}
