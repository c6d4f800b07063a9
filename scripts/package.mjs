/** The npm package: `pkg/src/` compiled to `pkg/dist/`, and from that its other forms. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './command.mjs';
import { includeCronParser, writeBundles, writeCommonJs, writeEngineModules } from './forms.mjs';
import { writeNotices } from './notices.mjs';
import { onceFor } from './stamp.mjs';
import { step } from './step.mjs';

const NOTICES = 'pkg/NOTICES.txt';
const TSC = 'node_modules/typescript/bin/tsc';

export async function compilePackage() {
  const paths = {
    stamp: 'target/stamps/package',
    inputs: [
      'pkg/src',
      'pkg/wasm/fencepost.js',
      'pkg/wasm/fencepost.d.ts',
      'pkg/wasm/fencepost_bg.wasm',
      'scripts/forms.mjs',
      'tsconfig.json',
      'package-lock.json',
    ],
    outputs: [
      'pkg/dist/index.js',
      'pkg/dist/inline.js',
      'pkg/wasm/inlined.js',
      'pkg/wasm/location.js',
      'pkg/wasm/location-fast.js',
      'pkg/cjs/dist/index.js',
      'pkg/cjs/wasm/location-fast.js',
    ],
  };
  await step('package from TypeScript', () =>
    onceFor(paths, async () => {
      // The compiler leaves what it wrote for files that are gone.
      rmSync(join(ROOT, 'pkg/dist'), { recursive: true, force: true });
      writeEngineModules();
      await checkTypes('tsconfig.json');
      await includeCronParser();
      await writeCommonJs();
      await writeBundles();
    }),
  );
  await collectNotices();
}

/** The notices of all that is inside of the package. */
async function collectNotices() {
  const paths = {
    stamp: 'target/stamps/notices',
    inputs: ['Cargo.lock', 'package-lock.json', 'scripts/notices.mjs'],
    outputs: [NOTICES],
  };
  await step('notices of what is inside', () => onceFor(paths, () => writeNotices(NOTICES)));
}

/**
 * Runs the TypeScript compiler on one project.
 *
 * @param {string} project
 */
export async function checkTypes(project) {
  await run(process.execPath, [TSC, '--project', project]);
}
