/** Opens the journal it is given in a thread of its own, and stays. */
import { parentPort, workerData } from 'node:worker_threads';
import { file } from 'fencepost/file';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';

const replica = new Replica(file(workerData));
await replica.open('locks');
await replica.append(patternBytes(10, 1));
parentPort?.postMessage('held');
setInterval(() => undefined, 60_000);
