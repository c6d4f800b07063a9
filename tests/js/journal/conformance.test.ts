/** Memory and file journal pass the suite that every journal has to pass. */
import { describe, test } from 'node:test';
import { file } from 'fencepost/file';
import { memory } from '../../../pkg/dist/journal/memory.js';
import { journalConformance } from '../../../pkg/dist/testing/conformance.js';
import { temporaryDirectory } from './directory.js';

describe('the memory journal', () => {
  journalConformance(
    () => {
      const journal = memory();
      return { journal: () => journal };
    },
    { test, shared: true },
  );
});

for (const durability of ['strict', 'relaxed'] as const) {
  describe(`the file journal, ${durability}`, () => {
    journalConformance(
      () => {
        const path = temporaryDirectory();
        return { journal: () => file(path, { durability }) };
      },
      { test },
    );
  });
}
