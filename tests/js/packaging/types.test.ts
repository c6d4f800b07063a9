/** The types of the installed package, as each way of resolving them finds them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { addPackage, type Project, project, TOOLS } from './project.js';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const COMPILERS = {
  '7': join(MODULES, 'typescript/bin/tsc'),
  '5.9': join(TOOLS, 'typescript-5/bin/tsc'),
  /** The oldest that is promised; the README names it. */
  '5.5': join(TOOLS, 'typescript-5.5/bin/tsc'),
};

/** Right as it stands, and wrong where it says so. */
const PROGRAM = `
import { FencepostError, memory, open, put } from 'fencepost';
import type { Enqueued, Journal, Queue, Store, Task } from 'fencepost';
import { type DurableObjectContext, durableObject } from 'fencepost/durable-object';
import { Engine } from 'fencepost/engine';
import { file } from 'fencepost/file';
import { indexedDb } from 'fencepost/indexeddb';
import { open as openInline } from 'fencepost/inline';
import { open as openSlim } from 'fencepost/slim';
import { journalConformance, virtualClock } from 'fencepost/testing';

interface Mail { to: string }

export async function work(): Promise<string> {
  const journals: Journal[] = [memory(), file('there'), indexedDb({ database: 'there' })];
  const store: Store = await open('typed', { journal: memory(), clock: virtualClock() });
  const queue = store.queue<Mail, number>('mail');
  const made: Enqueued = await queue.enqueue({ to: 'ada' }, { writes: [put('seen', 1)] });
  const [task]: Task<Mail, number>[] = await queue.claim('worker');
  if (task === undefined) return 'nothing';
  const done = await task.complete(1);
  const engine: Engine = await Engine.load();
  const seq: number = engine.queueEnqueue({ queue: 'q', payload: new Uint8Array() }, 0).seq;
  await store.close();
  const told = [openInline, openSlim, journalConformance].map((it) => typeof it);
  return [task.payload.to, made.created, done.ok, seq, journals.length, ...told].join(' ');
}

/** Compiled, never called. */
export const inObject = (ctx: DurableObjectContext): Journal => durableObject(ctx);

/** The same. */
export async function wrong(queue: Queue<Mail, number>, task: Task<Mail, number>): Promise<void> {
  // @ts-expect-error: a payload of another shape
  await queue.enqueue({ from: 'ada' });
  // @ts-expect-error: no such option
  await queue.enqueue({ to: 'ada' }, { dely: 1 });
  // @ts-expect-error: a refusal has no value
  (await task.complete(1)).value;
}

export const codeOf = (error: unknown): string =>
  error instanceof FencepostError ? error.code : 'none';
work().then(console.log);
`;
const PRINTED = 'ada true true 1 3 function function function';

/** How a project is set up: a compiler's options, and the names of its sources. */
interface Way {
  compilerOptions: Record<string, unknown>;
  sources: string[];
}

const BOTH = ['program.mts', 'program.cts'];
const WAYS: Record<string, Way> = {
  node16: { compilerOptions: { module: 'node16' }, sources: BOTH },
  nodenext: { compilerOptions: { module: 'nodenext' }, sources: BOTH },
  bundler: {
    compilerOptions: { module: 'esnext', moduleResolution: 'bundler' },
    sources: ['program.mts'],
  },
};

function configured({ compilerOptions, sources }: Way): Project {
  const strict = { strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true };
  const options = { target: 'es2022', ...strict, ...compilerOptions };
  return project({
    'tsconfig.json': JSON.stringify({ compilerOptions: options, files: sources }),
    ...Object.fromEntries(sources.map((source) => [source, PROGRAM])),
  });
}

for (const [version, compiler] of Object.entries(COMPILERS)) {
  describe(`TypeScript ${version}`, () => {
    for (const [name, { compilerOptions, sources }] of Object.entries(WAYS)) {
      test(`${name}: it compiles without a skipped check, and runs`, async () => {
        const browser = { types: [], lib: ['es2022', 'dom'] };
        const made = configured({ compilerOptions: { ...browser, ...compilerOptions }, sources });
        await made.run(process.execPath, [compiler]);
        for (const source of sources) {
          const output = source.replace('ts', 'js');
          assert.equal(await made.run(process.execPath, [output]), PRINTED, output);
        }
      });
    }

    test("Node's types instead of a browser's: it compiles without a skipped check", async () => {
      const compilerOptions = { types: ['node'], lib: ['es2022'], module: 'node16' };
      const made = configured({ compilerOptions, sources: BOTH });
      addPackage(made, '@types/node', join(MODULES, '@types/node'));
      addPackage(made, 'undici-types', join(MODULES, 'undici-types'));
      await made.run(process.execPath, [compiler]);
    });
  });
}
