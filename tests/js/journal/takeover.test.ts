/** Who is known to be dead is succeeded at once; whoever may be alive is not, unless by force. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs, {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import type { Journal } from '../../../pkg/dist/journal/journal.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { Child, compiled } from './child.js';
import { locksIn, temporaryDirectory } from './directory.js';
import { OWN_PIDS, requireNamespaces, underHostName } from './namespaces.js';

async function refusal(promise: Promise<unknown>): Promise<FencepostError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FencepostError, `expected a refusal, got ${error}`);
  return error;
}

async function holder(context: TestContext, path: string, under: string[] = []): Promise<Child> {
  const child = new Child(context, 'child-lock.ts', [], { under });
  assert.equal(await child.line(), 'ready');
  assert.equal(await child.ask(`hold ${path}`), 'held');
  return child;
}

async function opens(journal: Journal): Promise<void> {
  await journal.open('locks');
  await journal.close();
}

/** Changes what a lock's file says of its holder. */
function redescribe(path: string, changed: object): void {
  const name = locksIn(path).find((lock) => /^lock\.\d+$/.test(lock)) ?? '';
  const mark = JSON.parse(readFileSync(join(path, name), 'utf8'));
  writeFileSync(join(path, name), `${JSON.stringify({ ...mark, ...changed })}\n`);
}

test('a holder in another PID namespace is alive while it lives', async (context) => {
  requireNamespaces();
  const path = temporaryDirectory();
  const first = await holder(context, path, OWN_PIDS);
  const second = new Child(context, 'child-lock.ts', [], { under: OWN_PIDS });
  assert.equal(await second.line(), 'ready');
  assert.equal(await second.ask(`hold ${path}`), 'JOURNAL_LOCKED');
  assert.equal((await refusal(file(path).open('locks'))).code, 'JOURNAL_LOCKED');
  await first.kill();
  assert.equal(await second.ask(`hold ${path}`), 'held');
  await second.kill();
  await opens(file(path));
});

test('a holder killed under another host name is dead on the same machine', async (context) => {
  requireNamespaces();
  const path = temporaryDirectory();
  const child = await holder(context, path, underHostName('before'));
  const error = await refusal(file(path).open('locks'));
  assert.equal((error.details.holder as { host: string }).host, 'before');
  await child.kill();
  await opens(file(path));
});

test('a terminated worker thread holds nothing, though its process lives on', async () => {
  const path = temporaryDirectory();
  const script = compiled(new URL('child-worker.ts', import.meta.url));
  const worker = new Worker(script, { workerData: path });
  await once(worker, 'message');
  const error = await refusal(file(path).open('locks'));
  assert.match(error.message, /this very process/);
  await worker.terminate();
  const replica = new Replica(file(path));
  await replica.open('locks');
  assert.equal(replica.slot, 1, 'what the thread was told to be stored is there');
  await replica.append(patternBytes(10, 2));
  await replica.journal.close();
});

test('a machine that was started anew has no holder on its own disk', async (context) => {
  const path = temporaryDirectory();
  const child = await holder(context, path);
  await child.kill();
  redescribe(path, { boot: '00000000-0000-4000-8000-000000000000', host: 'before', local: true });
  await opens(file(path));
});

test('a holder on a volume that machines share is alive as far as is known', async (context) => {
  const path = temporaryDirectory();
  const child = await holder(context, path);
  await child.kill();
  redescribe(path, { boot: '00000000-0000-4000-8000-000000000000', local: false });
  const error = await refusal(file(path).open('locks'));
  assert.equal(error.code, 'JOURNAL_LOCKED');
  assert.match(error.message, /any machine or container.*delete ".*lock\.1".*takeOver: true$/);
  await opens(file(path, { takeOver: true }));
  await opens(file(path));
});

test('where a lifeline was deleted the description decides', async (context) => {
  const path = temporaryDirectory();
  const child = await holder(context, path);
  for (const name of locksIn(path)) if (name.includes('live')) rmSync(join(path, name));
  assert.equal((await refusal(file(path).open('locks'))).code, 'JOURNAL_LOCKED');
  await child.kill();
  await opens(file(path));
});

test('whoever waits for a lock has it when the holder closes or is killed', async (context) => {
  const path = temporaryDirectory();
  for (const end of ['release', 'kill'] as const) {
    const child = await holder(context, path);
    const waiting = file(path, { lockWait: Number.POSITIVE_INFINITY });
    let isOpen = false;
    const opening = waiting.open('locks').then(() => {
      isOpen = true;
    });
    assert.equal(
      (await refusal(file(path, { lockWait: 20 }).open('locks'))).code,
      'JOURNAL_LOCKED',
    );
    assert.equal(isOpen, false);
    if (end === 'kill') await child.kill();
    else await child.ask('release');
    await opening;
    await waiting.close();
  }
});

test('of many that wait each has the lock in its turn', async () => {
  const path = temporaryDirectory();
  const first = file(path);
  await first.open('locks');
  const inside = new Set<number>();
  const turns = Array.from({ length: 8 }, async (_, number) => {
    const journal = file(path, { lockWait: Number.POSITIVE_INFINITY });
    await journal.open('locks');
    inside.add(number);
    assert.equal(inside.size, 1);
    inside.delete(number);
    await journal.close();
  });
  await first.close();
  await Promise.all(turns);
});

test('a holder whose lock was taken by force acknowledges nothing any more', async () => {
  const path = temporaryDirectory();
  const before = new Replica(file(path));
  await before.open('locks');
  await before.append(patternBytes(10, 1));
  const after = new Replica(file(path, { takeOver: true }));
  await after.open('locks');
  assert.equal(after.slot, 1);
  const error = await refusal(before.append(patternBytes(10, 2)));
  assert.equal(error.code, 'LOG_REPLACED');
  await after.append(patternBytes(10, 3));
  await before.journal.close();
  await after.append(patternBytes(10, 4));
  await after.journal.close();
  const last = new Replica(file(path));
  await last.open('locks');
  assert.equal(last.slot, 3);
  await last.journal.close();
});

test('a path that is too long for an address of a socket is no hindrance', async (context) => {
  const path = join(temporaryDirectory(), 'a'.repeat(120), 'b'.repeat(60));
  const child = await holder(context, path);
  assert.ok(locksIn(path).some((name) => name.startsWith('lock.live-')));
  redescribe(path, { namespace: 'pid:[17]' });
  assert.equal((await refusal(file(path).open('locks'))).code, 'JOURNAL_LOCKED');
  await child.kill();
  await opens(file(path));
});

test('a process is not kept alive by the lock that it holds', async (context) => {
  const path = temporaryDirectory();
  const child = await holder(context, path);
  assert.equal(await child.finish(), 0);
  await opens(file(path));
});

for (const code of ['EPERM', 'ENOTSUP', 'EACCES']) {
  test(`where hard links are ${code} the lock is as exclusive`, async (context) => {
    const path = temporaryDirectory();
    context.mock.method(fs, 'linkSync', () => {
      throw Object.assign(new Error('no links'), { code });
    });
    syncBuiltinESMExports();
    context.after(() => {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    });
    assert.throws(() => linkSync(path, join(path, 'x')), /no links/);
    const first = file(path);
    await first.open('locks');
    assert.equal((await refusal(file(path).open('locks'))).code, 'JOURNAL_LOCKED');
    assert.deepEqual(
      locksIn(path).filter((name) => name.startsWith('lock.tmp')),
      [],
    );
    await first.close();
    await opens(file(path));
    assert.deepEqual(locksIn(path), ['lock.2']);
  });
}

test('a lock that cannot be written says why, and leaves nothing behind', async (context) => {
  const path = temporaryDirectory();
  context.mock.method(fs, 'writeFileSync', () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const error = await refusal(file(path).open('locks'));
  assert.deepEqual([error.code, error.details.system], ['JOURNAL_FULL', 'ENOSPC']);
  assert.deepEqual(locksIn(path), []);
});

test('what a store leaves on the disk is for its user only', async () => {
  const path = join(temporaryDirectory(), 'above', 'store');
  const replica = new Replica(file(path));
  await replica.open('locks');
  await replica.append(patternBytes(10, 1));
  await replica.journal.compact(1, [patternBytes(10, 2)]);
  const mode = (name: string): string => (statSync(name).mode & 0o777).toString(8);
  assert.deepEqual([mode(join(path, '..')), mode(path)], ['700', '700']);
  const names = readdirSync(path);
  assert.ok(names.length >= 4, names.join());
  for (const name of names) assert.equal(mode(join(path, name)), '600', name);
  await replica.journal.close();
});

test('a directory that is reached by a link is one directory', async () => {
  const path = join(temporaryDirectory(), 'store');
  mkdirSync(path);
  symlinkSync(path, `${path}-link`);
  const journal = file(path);
  await journal.open('locks');
  assert.equal((await refusal(file(`${path}-link`).open('locks'))).code, 'JOURNAL_LOCKED');
  await journal.close();
});

test('options that make no sense are refused by name', () => {
  for (const [options, argument] of [
    [{ lockWait: -1 }, 'lockWait'],
    [{ lockWait: Number.NaN }, 'lockWait'],
    [{ lockWait: '5' }, 'lockWait'],
    [{ takeOver: 1 }, 'takeOver'],
    [{ wait: 1 }, 'wait'],
  ] as const) {
    assert.throws(
      () => file('x', options as object),
      (error: unknown) =>
        error instanceof FencepostError &&
        error.code === 'INVALID_ARGUMENT' &&
        error.details.argument === argument,
    );
  }
});
