/**
 * Appends until it is killed or cannot go on, and prints a line for every entry it was promised:
 * `<slot>`. Ends with the code of the error that stopped it. Compacts now and then.
 */
import { argv } from 'node:process';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { Replica } from '../../../pkg/dist/testing/replica.js';
import { entryBytes, snapshotBytes } from './append-bytes.js';
import { say } from './say.js';

async function appendUntilStopped(path: string, compactEvery: number): Promise<void> {
  const replica = new Replica(file(path));
  await replica.open('append');
  say('open');
  try {
    for (;;) {
      replica.slot = await replica.append(entryBytes(replica.slot + 1));
      const { slot } = replica;
      say(slot);
      if (slot % compactEvery === 0) await replica.journal.compact(slot, [snapshotBytes(slot)]);
    }
  } catch (error) {
    if (!(error instanceof FencepostError)) throw error;
    say(`${error.code} ${error.details.stored}`);
  }
}

await appendUntilStopped(argv[2] ?? '', Number(argv[3] ?? Number.POSITIVE_INFINITY));
