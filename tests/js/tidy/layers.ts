/**
 * The import order of the engine and of the package.
 *
 * Each table lists the layers from the ground up. A module may import from its own layer and from
 * those below it, never from one above. A module that is in no layer is a fault: whoever adds one
 * says where it belongs.
 */
import { dirname, join } from 'node:path/posix';
import { type Check, linesOf, matching, withoutComments } from './files.js';

/** Modules of `src/`. The codec knows rows, never an operation. */
const ENGINE_LAYERS = [
  ['id', 'limits', 'error', 'name', 'blob', 'place'],
  ['arena', 'backoff', 'rights', 'table', 'keys', 'ordered', 'boundaries'],
  ['task', 'lease'],
  ['schedule'],
  ['change'],
  ['removals', 'replicas', 'index', 'timetable', 'usage'],
  ['queue'],
  ['state'],
  ['codec', 'check', 'staged', 'event', 'touched'],
  ['accept', 'copying', 'restoring', 'txn'],
  ['guard'],
  ['ops'],
  ['engine'],
  ['wasm'],
];

/**
 * Modules of `pkg/src/`. A folder is one module, and `task-record` is a part of `task`. A journal
 * knows bytes, never the engine.
 */
const PACKAGE_LAYERS = [
  ['errors', 'context'],
  ['host', 'realm'],
  ['journal'],
  [
    'types',
    'requests',
    'arguments',
    'call',
    'clock',
    'deadlines',
    'alarm',
    'turn',
    'breath',
    'parts',
    'abort',
    'wakes',
    'failure',
    'line',
    'inspect',
  ],
  ['names', 'caller', 'codec', 'writes', 'options', 'declared', 'page', 'cron'],
  [
    'operations',
    'packing',
    'packed',
    'records',
    'answers',
    'event',
    'border',
    'bridge',
    'load',
    'platform',
    'engine',
  ],
  [
    'feed',
    'loading',
    'copy',
    'replica',
    'replay',
    'compactor',
    'follower',
    'readings',
    'pending',
    'round',
    'intake',
    'unknown',
    'committer',
  ],
  ['session', 'firing', 'upkeep', 'stream'],
  [
    'events',
    'kv',
    'schedule',
    'lock',
    'tenure',
    'wait',
    'task',
    'worker',
    'queue',
    'effect',
    'transaction',
    'lease',
  ],
  ['store', 'succession'],
  ['restore'],
  ['open'],
  ['index', 'testing'],
  ['shared', 'serve'],
  ['entry'],
];

/** Rust: `crate::x`, `crate::{x, y}` and as many `super::` as lead out of the file's module. */
export const engineLayers: Check = (files) => {
  const rank = ranksOf(ENGINE_LAYERS);
  return matching(files, /^src\/(?!lib\.rs$).*\.rs$/).flatMap(([path, text]) => {
    const importer = firstPart(path.slice('src/'.length));
    const imports = linesOf(path, flattenGroups(withoutComments(text))).flatMap(({ place, line }) =>
      rustImports(path, line).map((imported) => ({ place, imported })),
    );
    return faults(rank, path, importer, imports);
  });
};

/** TypeScript: every relative import. Generated files lie outside of `pkg/src/`, in no layer. */
export const packageLayers: Check = (files) => {
  const rank = ranksOf(PACKAGE_LAYERS);
  return matching(files, /^pkg\/src\/.*\.ts$/).flatMap(([path, text]) => {
    const importer = firstPart(path.slice('pkg/src/'.length));
    const imports = linesOf(path, withoutComments(text)).flatMap(({ place, line }) => {
      const target = /(?:from|import\(?)\s*'(\.[^']*)'/.exec(line)?.[1];
      const resolved = target === undefined ? '' : join(dirname(path), target);
      if (!resolved.startsWith('pkg/src/')) return [];
      return [{ place, imported: firstPart(resolved.slice('pkg/src/'.length)) }];
    });
    return faults(rank, path, importer, imports);
  });
};

function ranksOf(layers: string[][]): Map<string, number> {
  return new Map(layers.flatMap((names, rank) => names.map((name) => [name, rank] as const)));
}

function firstPart(path: string): string {
  return path.replace(/[./-].*$/, '');
}

function faults(
  ranks: Map<string, number>,
  path: string,
  importer: string,
  imports: { place: string; imported: string }[],
): string[] {
  const rank = ranks.get(importer);
  if (rank === undefined) return [`${path}: the module ${importer} is in no layer`];
  return imports
    .filter(({ imported }) => (ranks.get(imported) ?? 0) > rank)
    .map(
      ({ place, imported }) => `${place}: ${importer} must not import ${imported}, a layer above`,
    );
}

/** Rewrites `crate::{a::b, c}` to `crate::a::b, crate::c` on the line where the group begins. */
function flattenGroups(text: string): string {
  return text.replace(/\b(crate|(?:super::)*super)::\{/g, (opening, root, at) => {
    const names = outermostNames(text.slice(at + opening.length));
    return `${names.map((name) => `${root}::${name}`).join(', ')} {`;
  });
}

/** The first name of each item of a group, up to the brace that closes it. */
function outermostNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let itemBegins = true;
  for (const [token] of text.matchAll(/[{},]|\w+/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth < 0) break;
    if (itemBegins && /^\w/.test(token)) names.push(token);
    itemBegins = depth === 0 && token === ',';
  }
  return names;
}

function rustImports(path: string, line: string): string[] {
  const module = path.replace(/^src\/|(\/mod)?\.rs$/g, '').split('/');
  const fromRoot = [...line.matchAll(/\bcrate::(\w+)/g)].map(([, name]) => name);
  const fromParent = [...line.matchAll(/\b((?:super::)+)(\w+)/g)].map(([, supers, name]) => {
    const levels = (supers ?? '').length / 'super::'.length;
    return levels < module.length ? module[0] : name;
  });
  return [...fromRoot, ...fromParent].filter((name) => name !== undefined);
}
