/** The text of the repository: every file by its path, as it lies there now. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Text by path; paths are relative to the repository and use `/`. */
export type Files = ReadonlyMap<string, string>;

/** Reads files and says what is wrong: one line for a person per fault, none when all is well. */
export type Check = (files: Files) => string[];

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What is or may be committed; nothing generated. */
export function repositoryFiles(): Files {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const paths = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const present = paths.filter((path) => path !== '' && existsSync(join(ROOT, path)));
  return new Map(present.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** The files whose path fits. */
export function matching(files: Files, pattern: RegExp): [path: string, text: string][] {
  return [...files].filter(([path]) => pattern.test(path));
}

/** Each line with the place it has in complaints. */
export function linesOf(path: string, text: string): { place: string; line: string }[] {
  return text.split('\n').map((line, index) => ({ place: `${path}:${index + 1}`, line }));
}

/** The code without what is said beside it. Lines stay where they are. */
export function withoutComments(text: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, ' ');
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(?<!:)\/\/.*/g, blank);
}
