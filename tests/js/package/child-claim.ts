/**
 * Opens a store, claims some tasks, a lease and a lock for an hour, says so, and stays.
 */
import { argv, stdin } from 'node:process';
import { open } from 'fencepost';
import { file } from 'fencepost/file';
import { say } from '../journal/say.js';

const HOUR_MS = 3_600_000;

const store = await open('work', { journal: file(argv[2]) });
const queue = store.queue('mail', { lease: HOUR_MS });
const claimed = await queue.claim('child', { max: Number(argv[3] ?? 1) });
await store.lease('leader').acquire('child', { ttl: HOUR_MS });
await store.lock('door').try('child', { ttl: HOUR_MS });
say(`claimed ${claimed.length}`);
stdin.resume();
