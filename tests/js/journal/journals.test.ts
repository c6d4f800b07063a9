/** What is particular to the memory and the file journal. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';
import { type FileJournalOptions, file } from 'fencepost/file';
import { defaultPath } from '../../../pkg/dist/journal/default-path.js';
import type { Journal } from '../../../pkg/dist/journal/journal.js';
import { memory } from '../../../pkg/dist/journal/memory.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { temporaryDirectory } from './directory.js';

for (const [kind, make] of [
  ['memory', memory],
  ['file', () => file(temporaryDirectory())],
] as [string, () => Journal][]) {
  test(`a commit started inside decide comes after it (${kind})`, async () => {
    const replica = new Replica(make());
    await replica.open();
    let inner: Promise<number> | undefined;
    await replica.journal.commit(0, (news) => {
      inner ??= new Replica(replica.journal).append(patternBytes(5, 2));
      assert.equal(news.tip, null);
      return { bytes: patternBytes(5, 1), tag: new Uint8Array(32) };
    });
    assert.equal(await inner, 2);
    await replica.journal.close();
  });
}

describe('the memory journal', () => {
  test('lives on when every store has closed it, and counts its stores', async () => {
    const journal = memory();
    const left = new Replica(journal);
    const right = new Replica(journal);
    await left.open();
    await right.open();
    await left.append(patternBytes(5, 1));
    await left.journal.close();
    await right.append(patternBytes(5, 2));
    await right.journal.close();
    await assert.rejects(right.sync(), { code: 'STORE_CLOSED' });
    const again = new Replica(journal);
    await again.open();
    assert.equal(again.slot, 2);
  });

  test('does not tell a watcher that has stopped in the meantime', async () => {
    const replica = new Replica(memory());
    await replica.open();
    let told = 0;
    const stop = replica.journal.watch?.(() => {
      told += 1;
    });
    replica.journal.watch?.(() => stop?.());
    await replica.append(patternBytes(5, 1));
    await replica.append(patternBytes(5, 2));
    assert.equal(told, 1, 'it heard of the first, and was stopped by the second watcher');
  });
});

describe('the file journal', () => {
  test('refuses bad paths and options by name', () => {
    const bad: [unknown, unknown, RegExp][] = [
      ['', {}, /expected the path of a directory, got ""/],
      ['a\0b', {}, /got "a\\u\{0\}b"/],
      [7, {}, /got 7/],
      [null, {}, /got null/],
      ['x', { durabilty: 'strict' }, /unknown option "durabilty"/],
      ['x', { durability: 'lax' }, /expected "strict" or "relaxed", got "lax"/],
    ];
    for (const [path, options, message] of bad) {
      assert.throws(() => file(path as string, options as FileJournalOptions), {
        code: 'INVALID_ARGUMENT',
        message,
      });
    }
  });

  test('drops what a snapshot replaces, and what an interrupted compaction left', async () => {
    const path = temporaryDirectory();
    const replica = new Replica(file(path));
    await replica.open();
    for (let slot = 1; slot <= 200; slot += 1) await replica.append(patternBytes(1000, slot));
    const before = statSync(join(path, 'journal')).size;
    await replica.journal.compact(190, [patternBytes(100, 1)]);
    const after = statSync(join(path, 'journal')).size;
    assert.ok(after < before / 2, `${after} of ${before} bytes are left`);
    await replica.journal.close();
    for (const leftover of ['journal.tmp', 'snapshot.tmp'])
      writeFileSync(join(path, leftover), 'x');
    const again = new Replica(file(path));
    await again.open();
    assert.deepEqual([again.snapshot?.slot, again.slot], [190, 200]);
    for (const leftover of ['journal.tmp', 'snapshot.tmp']) {
      assert.throws(() => readFileSync(join(path, leftover)), { code: 'ENOENT' });
    }
    await again.journal.close();
  });

  test('opened without a path uses the default one of the working directory', async () => {
    const here = process.cwd();
    process.chdir(temporaryDirectory());
    try {
      const replica = new Replica(file());
      await replica.open('näme/..');
      await replica.append(patternBytes(5, 1));
      await replica.journal.close();
      assert.ok(statSync(join('.fencepost', 'n%C3%A4me%2F.%2E', 'journal')).size > 0);
    } finally {
      process.chdir(here);
    }
  });
});

describe('the default path', () => {
  const inside = resolve('.fencepost') + sep;
  const names = ['.', '..', '...', '/', '../..', 'a/b', '/etc', '\\', 'C:', '\0', '%2F', '~', 'é'];
  names.push('x'.repeat(255), '/'.repeat(255), 'é'.repeat(127), ' ', 'a.b', '.a', 'a.', 'a b', '*');

  test('is one segment below .fencepost for any name, and different for each', () => {
    const paths = new Set<string>();
    for (const name of names) {
      const path = defaultPath(name);
      const segment = resolve(path).slice(inside.length);
      assert.ok(resolve(path).startsWith(inside), `${name}: ${path}`);
      assert.match(segment, /^(?!\.)[A-Za-z0-9._%~-]{1,200}(?<!\.)$/, name);
      paths.add(path);
    }
    assert.equal(paths.size, names.length);
  });

  test('is readable for ordinary names', () => {
    assert.equal(defaultPath('my-app_2.0'), join('.fencepost', 'my-app_2.0'));
    assert.notEqual(defaultPath(`${'x'.repeat(254)}a`), defaultPath(`${'x'.repeat(254)}b`));
  });
});
