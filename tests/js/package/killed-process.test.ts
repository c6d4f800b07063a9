/** A process is killed while it works on a store: what it was promised is there, and whole. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { open } from 'fencepost';
import { file } from 'fencepost/file';
import { Child } from '../journal/child.js';
import { temporaryDirectory } from '../journal/directory.js';
import { freshSeed, Random } from '../journal/random.js';

const ROUNDS = Number(process.env.FENCEPOST_KILL_ROUNDS ?? 5);

test('a transaction is there with its task or not at all, wherever killed', async (context) => {
  const seed = freshSeed();
  context.diagnostic(`FENCEPOST_SEED=${seed}`);
  const [random, path] = [new Random(seed), temporaryDirectory()];
  const done = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const promised = await workAndDie(context, path, random.below(200), done);
    await requireWhole(path, promised, done);
  }
});

/** The greatest count that was acknowledged. */
async function workAndDie(
  context: TestContext,
  path: string,
  lines: number,
  done: Set<number>,
): Promise<number> {
  const child = new Child(context, new URL('child-work.ts', import.meta.url).href, [path]);
  assert.equal(await child.line(), 'open');
  let promised = 0;
  for (let count = 0; ; count += 1) {
    if (count === lines) child.process.kill('SIGKILL');
    const line = await child.line();
    if (line === null) break;
    const id = /^done (\d+)$/.exec(line)?.[1];
    if (id === undefined) promised = Number(line);
    else done.add(Number(id));
  }
  await child.kill();
  return promised;
}

async function requireWhole(path: string, promised: number, done: Set<number>): Promise<void> {
  const store = await open('work', { journal: file(path) });
  const queue = store.queue('mail');
  const count = (await store.kv.get<number>('count'))?.value ?? 0;
  assert.ok(count >= promised && count <= promised + 1 + done.size, `${count} of ${promised}`);
  for (const id of done) assert.equal(await queue.get(id), null, `task ${id} was completed`);
  for (let at = 1; at <= count; at += 1) {
    const again = await queue.enqueue(at, { key: `count ${at}` });
    assert.equal(again.created, false, `count ${at} has its task`);
  }
  const extra = await queue.enqueue(0, { key: `count ${count + 1}` });
  assert.equal(extra.created, true, 'no task without its count');
  await queue.cancel(extra.id);
  assert.ok((await store.verify()).ok);
  await store.close();
}
