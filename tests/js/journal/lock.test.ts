/** One holder at a time, whoever contends; a dead one is no hindrance, a living one is named. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { type Holder, thisProcess } from '../../../pkg/dist/journal/holder.js';
import { acquireLock, claimNumber } from '../../../pkg/dist/journal/lockfile.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { Child } from './child.js';
import { locksIn, temporaryDirectory } from './directory.js';

async function refusal(promise: Promise<unknown>): Promise<FencepostError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FencepostError, `expected a refusal, got ${error}`);
  return error;
}

/** A directory that somebody else holds, or held. */
function heldBy(holder: Partial<Holder>): string {
  const path = temporaryDirectory();
  const content = { state: 'held', ...thisProcess(path), ...holder };
  writeFileSync(join(path, 'lock.4'), `${JSON.stringify(content)}\n`);
  return path;
}

async function opens(path: string): Promise<void> {
  const journal = file(path);
  await journal.open('locks');
  await journal.close();
}

test('a second handle in the same process is refused and told who holds it', async () => {
  const path = temporaryDirectory();
  const first = file(path);
  await first.open('locks');
  for (const second of [file(path), file(join(path, '..', path.split('/').at(-1) ?? '')), first]) {
    const error = await refusal(second.open('locks'));
    assert.equal(error.code, 'JOURNAL_LOCKED');
    assert.equal(error.details.stored, false);
    const holder = error.details.holder as Holder;
    assert.deepEqual([holder.pid, holder.host], [process.pid, hostname()]);
    assert.ok(Number.isSafeInteger(holder.openedAt));
    assert.equal(error.details.path, join(path, 'lock.1'));
    const self = `this very process ${process.pid} on host "`;
    assert.match(error.message, new RegExp(`${self}.*use the store that is open, or close it`));
    assert.match(error.message, /open it once, in one module, and import that$/);
  }
  await first.close();
  await opens(path);
});

test('numbers only rise, and one file is all that stays', async () => {
  const path = temporaryDirectory();
  for (let count = 1; count <= 12; count += 1) {
    await opens(path);
    assert.deepEqual(locksIn(path), [`lock.${count}`]);
  }
  assert.match(readFileSync(join(path, 'lock.12'), 'utf8'), /^\{"state":"free"/);
});

test('a failed opening gives the lock back', async () => {
  const path = temporaryDirectory();
  await opens(path);
  assert.equal((await refusal(file(path).open('another'))).code, 'INVALID_ARGUMENT');
  await opens(path);
});

test('another process is refused until the holder is killed', async (context) => {
  const path = temporaryDirectory();
  const child = new Child(context, 'child-lock.ts', []);
  assert.equal(await child.line(), 'ready');
  assert.equal(await child.ask(`hold ${path}`), 'held');
  const error = await refusal(file(path).open('locks'));
  assert.equal(error.code, 'JOURNAL_LOCKED');
  assert.equal((error.details.holder as Holder).pid, child.process.pid);
  await child.kill();
  await opens(path);
  assert.deepEqual(locksIn(path), ['lock.2']);
});

const noProc = existsSync('/proc/self/stat') ? false : 'needs /proc';

test('a process that was not waited for is dead', { skip: noProc }, async (context) => {
  // The shell turns into cat, which waits for nobody; only then ends the process it has started.
  const child = '(until grep -q cat /proc/$$/comm; do :; done)';
  const parent = spawn('sh', ['-c', `${child} & echo $!; exec cat`], { stdio: 'pipe' });
  context.after(() => parent.kill());
  const [line = ''] = await new Promise<string[]>((resolve) => {
    createInterface({ input: parent.stdout }).once('line', (first) => resolve([first]));
  });
  const stat = (): string => readFileSync(`/proc/${line}/stat`, 'utf8');
  const started = stat().split(') ')[1]?.split(' ')[19] ?? '';
  while (!stat().includes(') Z')) await new Promise(setImmediate);
  const path = heldBy({ pid: Number(line), started });
  await opens(path);
});

test('a holder is dead when its process id or start is another', {
  skip: noProc,
}, async () => {
  for (const holder of [{ started: '17' }, { pid: 4_194_304 + 17, started: '' }]) {
    await opens(heldBy(holder));
  }
});

test('a holder that cannot be judged is taken to be alive', async () => {
  for (const holder of [
    { boot: '00000000-0000-4000-8000-000000000000', pid: 4_194_304 + 17 },
    { boot: '', pid: 4_194_304 + 17 },
    { namespace: 'pid:[17]', pid: 4_194_304 + 17 },
    { namespace: '', pid: 4_194_304 + 17 },
    { platform: 'win32', pid: 4_194_304 + 17 },
    { started: '' },
  ]) {
    const error = await refusal(file(heldBy(holder)).open('locks'));
    assert.equal(error.code, 'JOURNAL_LOCKED', JSON.stringify(holder));
    if (holder.started !== '') assert.match(error.message, /delete ".*lock\.4"/);
  }
  for (const content of ['', '{', 'null', '{"state":"held"}', '{"state":"held","pid":"x"}', '7']) {
    const path = temporaryDirectory();
    writeFileSync(join(path, 'lock.4'), content);
    const error = await refusal(file(path).open('locks'));
    assert.equal(error.code, 'JOURNAL_LOCKED', content);
    assert.match(error.message, /a holder that cannot be told.*delete ".*lock\.4"/);
    rmSync(join(path, 'lock.4'));
    await opens(path);
  }
});

test('a contender that slept while others came and went steps back', async () => {
  const path = temporaryDirectory();
  await opens(path);
  await opens(path);
  const journal = file(path);
  await journal.open('locks');
  // It saw number 1 free, and links number 2 only now, which is deleted long since.
  const numbers = () => locksIn(path).filter((name) => /^lock\.\d+$/.test(name));
  assert.deepEqual(numbers(), ['lock.3']);
  assert.equal(await claimNumber(path, 2), null);
  assert.equal(await claimNumber(path, 3), null);
  assert.deepEqual(numbers(), ['lock.3']);
  await journal.close();
});

test('a holder whose lock was deleted by hand stops writing', async () => {
  const path = temporaryDirectory();
  const replica = new Replica(file(path));
  await replica.open('locks');
  await replica.append(patternBytes(5, 1));
  rmSync(join(path, 'lock.1'));
  const second = await acquireLock(path, { wait: 0, force: false });
  const error = await refusal(replica.append(patternBytes(5, 2)));
  assert.deepEqual([error.code, error.details.stored], ['JOURNAL_UNAVAILABLE', false]);
  await replica.journal.close();
  assert.ok(second.isHeld(), 'closing does not touch the lock of the next one');
  assert.equal((await refusal(file(path).open('locks'))).code, 'JOURNAL_LOCKED');
  second.release();
  second.release();
  await opens(path);
});

test('of several processes that find a dead holder exactly one takes over', async (context) => {
  const children = Array.from({ length: 5 }, () => new Child(context, 'child-lock.ts', []));
  for (const child of children) assert.equal(await child.line(), 'ready');
  for (let round = 0; round < 20; round += 1) {
    const path = heldBy({ pid: 4_194_304 + 17, started: '' });
    const answers = await Promise.all(children.map((child) => child.ask(`hold ${path}`)));
    assert.equal(answers.filter((answer) => answer === 'held').length, 1, answers.join());
    assert.equal(answers.filter((answer) => answer === 'JOURNAL_LOCKED').length, 4, answers.join());
    const released = await Promise.all(children.map((child) => child.ask('release')));
    assert.deepEqual(new Set(released), new Set(['released']));
    assert.deepEqual(locksIn(path), ['lock.5']);
  }
  for (const child of children) assert.equal(await child.finish(), 0);
});

test('processes that open, append and close in a race are never two at a time', async (context) => {
  const path = temporaryDirectory();
  const children = Array.from({ length: 4 }, () => new Child(context, 'child-lock.ts', []));
  for (const child of children) assert.equal(await child.line(), 'ready');
  const answers = await Promise.all(children.map((child) => child.ask(`contend ${path} 25`)));
  assert.deepEqual(answers, ['done', 'done', 'done', 'done']);
  for (const child of children) assert.equal(await child.finish(), 0);
  const replica = new Replica(file(path));
  await replica.open('locks');
  assert.equal(replica.slot, 100, 'every entry is there');
  await replica.journal.close();
});
