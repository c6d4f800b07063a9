/** The README's first programs run as they stand. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const LINES_MAX = 25;

test('the quickstart for node runs twice and does its work once', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'fencepost-quickstart-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const program = [join(EXAMPLES, 'node-quickstart.mjs')];
  const first = await run(process.execPath, program, { cwd });
  assert.equal(first.stdout, 'to noor@example.com, attempt 1\nto ada@example.com, attempt 1\n');
  const second = await run(process.execPath, program, { cwd });
  assert.equal(second.stdout, '');
  assert.equal(first.stderr + second.stderr, '');
});

test('the worker runs until it is interrupted, and then ends by itself', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'fencepost-worker-'));
  const worker = spawn(process.execPath, [join(EXAMPLES, 'node-worker.mjs')], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => {
    worker.kill('SIGKILL');
    rmSync(cwd, { recursive: true, force: true });
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: worker.stdout })) {
    lines.push(line);
    if (lines.length === 2) worker.kill('SIGINT');
  }
  assert.deepEqual(lines, ['to ada@example.com, attempt 1', 'to noor@example.com, attempt 2']);
  if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
  assert.deepEqual([worker.exitCode, worker.signalCode], [0, null]);
});

test('the README shows the quickstarts as they are', () => {
  const readme = readFileSync(join(EXAMPLES, '../README.md'), 'utf8');
  for (const name of ['node-quickstart.mjs', 'node-worker.mjs']) {
    const program = readFileSync(join(EXAMPLES, name), 'utf8').replace(/^\/\/.*\n/, '');
    assert.ok(readme.includes(program), name);
  }
});

test('the quickstart for browsers imports what is there', async () => {
  const page = readFileSync(join(EXAMPLES, 'browser-quickstart.html'), 'utf8');
  const map = /<script type="importmap">(.*)<\/script>/.exec(page)?.[1] ?? '';
  const path = JSON.parse(map).imports.fencepost;
  assert.ok(existsSync(join(EXAMPLES, path)), `${path} is built`);
  const names = /import \{ (.*) \} from 'fencepost'/.exec(page)?.[1]?.split(', ') ?? [];
  assert.ok(names.length > 0);
  const exported = await import(new URL(path, `file://${EXAMPLES}`).href);
  for (const name of names) assert.ok(name in exported, name);
});

test('the quickstarts stay short', () => {
  for (const name of ['node-quickstart.mjs', 'node-worker.mjs', 'browser-quickstart.html']) {
    const lines = readFileSync(join(EXAMPLES, name), 'utf8').trimEnd().split('\n').length;
    assert.ok(lines <= LINES_MAX, `${name} has ${lines} lines`);
  }
});
