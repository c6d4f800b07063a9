/** The npm package: `pkg/src/` compiled to `pkg/dist/`. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './command.mjs';
import { onceFor } from './stamp.mjs';
import { step } from './step.mjs';

const TSC = 'node_modules/typescript/bin/tsc';

export async function compilePackage() {
  const paths = {
    stamp: 'target/stamps/package',
    inputs: ['pkg/src', 'pkg/wasm/fencepost.d.ts', 'tsconfig.json', 'package-lock.json'],
    outputs: ['pkg/dist/index.js'],
  };
  await step('package from TypeScript', () =>
    onceFor(paths, async () => {
      // The compiler leaves what it wrote for files that are gone.
      rmSync(join(ROOT, 'pkg/dist'), { recursive: true, force: true });
      await checkTypes('tsconfig.json');
    }),
  );
}

/**
 * Runs the TypeScript compiler on one project.
 *
 * @param {string} project
 */
export async function checkTypes(project) {
  await run(process.execPath, [TSC, '--project', project]);
}
