/** Tiny projects that use the package as somebody else gets it: packed, then installed. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../journal/directory.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKED = join(ROOT, 'target/packed');
/** Where the runtimes and bundlers are installed. */
export const TOOLS = join(ROOT, 'tests/js/packaging/node_modules');

export interface Project {
  readonly path: string;
  write(files: Record<string, string>): void;
  /** Runs a program in the project; answers what it printed, and fails when it fails. */
  run(program: string, args: string[]): Promise<string>;
}

/** A project with the package installed, and these files in it. */
export function project(files: Record<string, string>): Project {
  execFileSync(process.execPath, [join(ROOT, 'scripts/packed.mjs')], { stdio: 'pipe' });
  const path = temporaryDirectory();
  cpSync(join(PACKED, 'project'), path, { recursive: true });
  const made: Project = {
    path,
    write(more) {
      for (const [name, text] of Object.entries(more)) {
        mkdirSync(dirname(join(path, name)), { recursive: true });
        writeFileSync(join(path, name), text);
      }
    },
    run: (program, args) => printed(program, args, path),
  };
  made.write(files);
  return made;
}

/** Makes a package of another author's visible to the project. */
export function addPackage({ path }: Project, name: string, from: string): void {
  cpSync(from, join(path, 'node_modules', name), { recursive: true });
}

/** An engine in a file of its own, as it is installed. */
export function engineFile(
  { path }: Project,
  name: 'fencepost_bg.wasm' | 'fencepost_fast.wasm',
): Buffer {
  return readFileSync(join(path, 'node_modules/fencepost/pkg/wasm', name));
}

/** The engines that a bundler has put into files of their own. */
export function enginesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.wasm'))
    .map((name) => readFileSync(join(folder, name)));
}

/** A program that comes in a package per system, of which npm has installed the one that fits. */
export function program(scope: string, file: string): string {
  const packages = readdirSync(join(TOOLS, scope)).map((name) => join(TOOLS, scope, name, file));
  const found = packages.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`there is no ${file} below ${join(TOOLS, scope)}`);
  return found;
}

function printed(program: string, args: string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(stdout.trim());
      else
        reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`));
    });
  });
}
