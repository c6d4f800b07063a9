/** Opens a store in which something is due much later, and does nothing more. */
import { stdout } from 'node:process';
import { memory, open } from 'fencepost';

const store = await open('idle', { journal: memory() });
await store.queue('mail').enqueue(1, { delay: 60_000, expiresIn: 90_000 });
stdout.write('open\n');
