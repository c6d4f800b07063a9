/** What each operation costs with so many tasks waiting, natively, as a table. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../../target/release/fencepost-bench', import.meta.url));
const lines = execFileSync(native, ['costs'], { encoding: 'utf8' }).trim().split('\n');
console.log('CPU nanoseconds per operation, each with its entry');
console.table(lines.map((line) => JSON.parse(line)));
