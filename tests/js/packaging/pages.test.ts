/** The installed package without a bundler, in every kind of script, under a strict policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inEveryBrowser } from '../browser/support.js';
import { CYCLED } from './cycle.js';
import { type Project, project } from './project.js';
import { BEATS, REPORT, reportsOf, startSite } from './site.js';

const DIST = '/node_modules/fencepost/pkg/dist';
const MODULE_IMPORT = `import * as fencepost from '${DIST}/inline.js';\n`;
const CLASSIC_IMPORT = `importScripts('${DIST}/script.js');\n`;

/** A worker is told to begin, so that a service worker that is there already does so as well. */
const ON_MESSAGE = `onmessage = ({ data }) => report(data, fencepost);\n`;
const ON_MESSAGE_KEPT = `${BEATS}
onmessage = (event) => event.waitUntil(Promise.all([
  report(event.data, fencepost),
  beats(event.data + ' beats', fencepost),
]));
`;
const ON_CONNECT =
  'onconnect = ({ ports: [port] }) => {\n' +
  '  port.onmessage = ({ data }) => report(data, fencepost);\n' +
  '};\n';

const STARTER = `
const tell = (result) =>
  fetch('/report', { method: 'POST', body: JSON.stringify({ kind: 'text as code', result }) });
try {
  tell(String(new Function('return 1')()));
} catch (error) {
  tell(error.name);
}
new Worker('worker.js', { type: 'module' }).postMessage('module worker');
new Worker('classic-worker.js').postMessage('classic worker');
new SharedWorker('shared.js', { type: 'module' }).port.postMessage('shared worker');
for (const [kind, path, type, scope = type] of [
  ['service worker', 'service.js', 'module'],
  ['classic service worker', 'classic-service.js', 'classic'],
  ['service worker of modules', 'modules-service.js', 'module', 'modules'],
  ['service worker with a file', 'slim-service.js', 'module', 'slim'],
]) {
  navigator.serviceWorker.register(path, { type, scope: '/' + scope + '/' }).then((registered) => {
    (registered.installing ?? registered.waiting ?? registered.active).postMessage(kind);
  });
}
`;

const SERVICE_WORKERS = [
  'service worker',
  'classic service worker',
  'service worker of modules',
  'service worker with a file',
];

const KINDS = [
  'one module',
  'modules',
  'a file of its own',
  'classic script',
  'module worker',
  'classic worker',
  'shared worker',
  ...SERVICE_WORKERS,
];

function site(): Project {
  return project({
    'index.html': `<!doctype html>
      <script src="${DIST}/script.js"></script>
      <script src="classic.js"></script>
      <script type="module" src="one-module.js"></script>
      <script type="module" src="modules.js"></script>
      <script type="module" src="slim.js"></script>
      <script type="module" src="starter.js"></script>`,
    'classic.js': `${REPORT}report('classic script', fencepost);`,
    'one-module.js': `${MODULE_IMPORT}${REPORT}report('one module', fencepost);`,
    'modules.js': `import * as fencepost from '${DIST}/entry/browser.js';
      ${REPORT}report('modules', fencepost);`,
    'slim.js': `import * as fencepost from '${DIST}/entry/slim.js';
      ${REPORT}report('a file of its own', fencepost);`,
    'starter.js': STARTER,
    'worker.js': MODULE_IMPORT + REPORT + ON_MESSAGE,
    'classic-worker.js': CLASSIC_IMPORT + REPORT + ON_MESSAGE,
    'shared.js': MODULE_IMPORT + REPORT + ON_CONNECT,
    'service.js': MODULE_IMPORT + REPORT + ON_MESSAGE_KEPT,
    'classic-service.js': CLASSIC_IMPORT + REPORT + ON_MESSAGE_KEPT,
    'modules-service.js': `import * as fencepost from '${DIST}/entry/browser.js';
      ${REPORT}${ON_MESSAGE_KEPT}`,
    'slim-service.js': `import * as fencepost from '${DIST}/entry/slim.js';
      ${REPORT}${ON_MESSAGE_KEPT}`,
  });
}

inEveryBrowser('the installed package', (running) => {
  test('it loads in every kind of script when only wasm-unsafe-eval is granted', async () => {
    const server = await startSite(site().path);
    const page = await running().newPage();
    const beats = SERVICE_WORKERS.map((kind) => `${kind} beats`);
    const results = await reportsOf(page, server, [...KINDS, ...beats, 'text as code']);
    await page.close();
    await server.close();
    const expected = Object.fromEntries([
      ...KINDS.map((kind) => [kind, CYCLED]),
      ...beats.map((kind) => [kind, 'beat']),
    ]);
    assert.deepEqual(results, { ...expected, 'text as code': 'EvalError' });
  });
});
