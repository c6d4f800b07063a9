/** The installed package through four bundlers: what they make runs in Chromium, and in Node. */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as esbuild from 'esbuild';
import { chromium } from '../browser/chromium.js';
import { inBrowsers } from '../browser/support.js';
import { CYCLE, CYCLED } from './cycle.js';
import { engineFile, enginesIn, type Project, project, TOOLS } from './project.js';
import { mainOf, PAGE, reportsOf, startSite } from './site.js';

const OUTPUT = 'built';

interface Bundler {
  name: string;
  /** Whether it finds files that modules name by \`new URL(…, import.meta.url)\`. */
  takesFiles: boolean;
  /** Bundles `main.js` and its page into the folder `built`. */
  bundle(path: string): Promise<unknown>;
}

const BUNDLERS: Bundler[] = [
  {
    name: 'esbuild',
    takesFiles: false,
    async bundle(path) {
      const common = { bundle: true, minify: true, format: 'esm', logLevel: 'error' } as const;
      const places = { absWorkingDir: path, entryPoints: ['main.js'], outdir: OUTPUT };
      await esbuild.build({ ...common, ...places });
      copyFileSync(join(path, 'index.html'), join(path, OUTPUT, 'index.html'));
    },
  },
  {
    name: 'Rollup',
    takesFiles: false,
    async bundle(path) {
      const { rollup } = await import(join(TOOLS, 'rollup/dist/es/rollup.js'));
      const plugin = join(TOOLS, '@rollup/plugin-node-resolve/dist/es/index.js');
      const { nodeResolve } = await import(plugin);
      const plugins = [nodeResolve({ browser: true })];
      const built = await rollup({ input: join(path, 'main.js'), plugins });
      await built.write({ dir: join(path, OUTPUT), format: 'es' });
      copyFileSync(join(path, 'index.html'), join(path, OUTPUT, 'index.html'));
    },
  },
  {
    name: 'webpack',
    takesFiles: true,
    async bundle(path) {
      await runWebpack(path, 'web');
      copyFileSync(join(path, 'index.html'), join(path, OUTPUT, 'index.html'));
    },
  },
  {
    name: 'Vite',
    takesFiles: true,
    async bundle(path) {
      const { build } = await import(join(TOOLS, 'vite/dist/node/index.js'));
      const options = { root: path, configFile: false, logLevel: 'error' };
      await build({ ...options, build: { outDir: OUTPUT } });
    },
  },
];

/** Bundles `main.js` into the folder `built`. */
async function runWebpack(path: string, target: 'web' | 'node'): Promise<void> {
  const { default: webpack } = await import(join(TOOLS, 'webpack/lib/index.js'));
  const output = { path: join(path, OUTPUT), filename: 'main.js' };
  const options = { mode: 'production', target, context: path, entry: './main.js', output };
  const stats = await new Promise<{ toString(): string; hasErrors(): boolean }>(
    (resolve, reject) => {
      webpack(options, (error: Error | null, it: typeof stats) =>
        error ? reject(error) : resolve(it),
      );
    },
  );
  assert.ok(!stats.hasErrors(), stats.toString());
}

inBrowsers([chromium], 'the bundled package', (running) => {
  for (const { name, takesFiles, bundle } of BUNDLERS) {
    test(`${name}: what it makes runs when only wasm-unsafe-eval is granted`, async () => {
      const made = project({ 'index.html': PAGE, 'main.js': mainOf(takesFiles) });
      await bundle(made.path);
      const small = engineFile(made, 'fencepost_bg.wasm');
      assert.deepEqual(enginesIn(join(made.path, OUTPUT)), takesFiles ? [small] : []);
      const server = await startSite(join(made.path, OUTPUT));
      const page = await running().newPage();
      const kinds = ['fencepost', 'inline', 'engine', ...(takesFiles ? ['slim'] : [])];
      const results = await reportsOf(page, server, kinds);
      await page.close();
      await server.close();
      assert.deepEqual(results, Object.fromEntries(kinds.map((kind) => [kind, CYCLED])));
    });
  }
});

/** Bundles a program for Node into one file, and moves that to where nothing else is. */
async function bundledForNode(entry: string, format: 'cjs' | 'esm'): Promise<Project> {
  const source = `
    import * as fencepost from '${entry}';
    ${CYCLE}
    cycle(fencepost).catch(({ code, message }) => code + ' ' + message).then(console.log);`;
  const made = project({ 'source.js': source });
  const moved = project({});
  const outfile = join(moved.path, format === 'cjs' ? 'program.cjs' : 'program.mjs');
  const options = { bundle: true, platform: 'node', logLevel: 'error' } as const;
  const places = { absWorkingDir: made.path, entryPoints: ['source.js'], outfile };
  await esbuild.build({ ...options, ...places, format });
  return moved;
}

for (const format of ['cjs', 'esm'] as const) {
  const program = `program.${format === 'cjs' ? 'cjs' : 'mjs'}`;

  test(`bundled for Node as ${format}, inline needs no file beside it`, async () => {
    const moved = await bundledForNode('fencepost/inline', format);
    assert.equal(await moved.run(process.execPath, [program]), CYCLED);
  });

  test(`bundled for Node as ${format}, a file left behind is told`, async () => {
    const moved = await bundledForNode('fencepost', format);
    const told = await moved.run(process.execPath, [program]);
    assert.match(told, /^INVALID_ARGUMENT .*if a bundler left the file behind: copy it there/);
  });
}

test('bundled for Node by webpack, the fast engine is taken along, and no other', async () => {
  const source = `
    import * as fencepost from 'fencepost';
    ${CYCLE}
    cycle(fencepost).then(console.log);`;
  const made = project({ 'main.js': source });
  await runWebpack(made.path, 'node');
  const built = join(made.path, OUTPUT);
  assert.deepEqual(enginesIn(built), [engineFile(made, 'fencepost_fast.wasm')]);
  const moved = project({});
  cpSync(built, moved.path, { recursive: true });
  rmSync(made.path, { recursive: true });
  assert.equal(await moved.run(process.execPath, ['main.js']), CYCLED);
});
