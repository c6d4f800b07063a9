/**
 * Opens a journal again and again, waiting for its turn, and appends to it until it is killed. Says
 * with the time, which all processes of a machine share:
 *
 * - `open <ns>` when it has the journal, `close <ns>` before it gives it back
 * - `stored <ns> <slot> <size> <number>` for each entry that was acknowledged
 */
import { argv, hrtime } from 'node:process';
import { file } from 'fencepost/file';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { Random } from './random.js';
import { say } from './say.js';

const [path = '', seed = ''] = argv.slice(2);
const random = new Random(Number(seed));

for (;;) {
  const replica = new Replica(file(path, { lockWait: Number.POSITIVE_INFINITY }));
  await replica.open('rivals');
  say(`open ${hrtime.bigint()}`);
  for (let left = 1 + random.below(6); left > 0; left -= 1) {
    const size = random.below(8) === 0 ? 1 + random.below(8 << 20) : 1 + random.below(2_000);
    const number = random.below(1 << 30);
    const slot = await replica.append(patternBytes(size, number));
    say(`stored ${hrtime.bigint()} ${slot} ${size} ${number}`);
  }
  say(`close ${hrtime.bigint()}`);
  await replica.journal.close();
}
