/** The code map, `src/README.md`: it names every file below `src/`, and no other. */
import { type Check, matching } from './files.js';

const MAP = 'src/README.md';

/** A folder's `mod.rs` is named by the folder. */
export const mapIsComplete: Check = (files) => {
  const map = files.get(MAP) ?? '';
  return sourcePaths(files)
    .map((path) => path.replace(/\/mod\.rs$/, '/'))
    .filter((name) => !names(map, name))
    .map((name) => `${MAP}: does not name ${name}`);
};

export const mapIsCurrent: Check = (files) => {
  const paths = new Set(sourcePaths(files));
  const named = (files.get(MAP) ?? '').match(/(?<![\w/.])[\w/]+\.rs\b/g) ?? [];
  return named
    .filter((path) => !paths.has(path.replace(/^src\//, '')) && !files.has(path))
    .map((path) => `${MAP}: names ${path}, which is not there`);
};

function sourcePaths(files: Parameters<Check>[0]): string[] {
  return matching(files, /^src\/.*\.rs$/).map(([path]) => path.slice('src/'.length));
}

/** The whole path, not the end of a longer one. */
function names(map: string, path: string): boolean {
  const literal = path.replaceAll('.', '\\.');
  return new RegExp(`(?<![\\w/.])(?:src/)?${literal}(?![\\w.])`).test(map);
}
