/**
 * What the package may ask of its host. A test runner, a frame and an edge sandbox have globals of
 * their own, lack some, and forbid `import()`.
 */
import { type Check, linesOf, matching, withoutComments } from './files.js';

/** Where the questions are asked that nobody else asks. */
const HOST = 'pkg/src/host.ts';
const REALM = 'pkg/src/realm.ts';

/** A value of another realm is no instance of this one's class. */
export const noForeignClasses: Check = (files) => {
  const sources = matching(files, /^pkg\/src\/.*\.ts$/);
  const own = new Set(
    sources.flatMap(([, text]) => [...text.matchAll(/\bclass (\w+)/g)].map(([, name]) => name)),
  );
  return faultsIn(sources, REALM, /\binstanceof (\w+)/g, (name) =>
    own.has(name) ? undefined : `asks instanceof ${name}, which another realm has of its own`,
  );
};

const MISSED =
  'AbortController|Blob|DecompressionStream|FileReader|Response|TextDecoder|TextEncoder';
const CALLED = '(?<![.\\w])(atob|crypto|fetch|performance)[.(]';
const GLOBALS = new RegExp(`\\bnew (${MISSED})\\b|${CALLED}`, 'g');

/** A global that a host may lack is asked for by name, so that it can be told by name. */
export const noBareGlobals: Check = (files) =>
  faultsIn(
    matching(files, /^pkg\/src\/.*\.ts$/),
    HOST,
    GLOBALS,
    (name) => `uses ${name}, which a host may lack, without asking for it`,
  );

/** Service workers and CommonJS in a sandbox import nothing later. */
export const noLateImports: Check = (files) =>
  faultsIn(
    matching(files, /^pkg\/src\/.*\.ts$/),
    '',
    /(?<!typeof )\b(import)\(/g,
    () => 'imports something later, which a service worker may not',
  );

function faultsIn(
  sources: [string, string][],
  except: string,
  pattern: RegExp,
  faultOf: (found: string) => string | undefined,
): string[] {
  return sources
    .filter(([path]) => path !== except)
    .flatMap(([path, text]) => linesOf(path, withoutComments(text)))
    .flatMap(({ place, line }) =>
      [...line.matchAll(pattern)].flatMap(([, one, other]) => {
        const fault = faultOf(one ?? other ?? '');
        return fault === undefined ? [] : [`${place}: ${fault}`];
      }),
    );
}
