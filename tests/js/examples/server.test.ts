/** The example's server keeps its side: it fences, it is idempotent, it remembers. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recordLines, recordPath } from './server-record.js';

const SERVER = fileURLToPath(new URL('../../../examples/deliver/server.mjs', import.meta.url));
/** Under this seed the request `fair` gets through at its first attempt. */
const SEED = '1';

class TestServer {
  readonly #child: ChildProcess;
  #origin = '';

  constructor(t: TestContext, dir: string) {
    this.#child = fork(SERVER, [recordPath(dir), SEED]);
    t.after(() => this.#child.kill('SIGKILL'));
  }

  async deliver(id: string, token: string): Promise<string> {
    if (this.#origin === '') {
      const [{ port }] = await once(this.#child, 'message');
      this.#origin = `http://127.0.0.1:${port}/orders`;
    }
    const headers = { 'Idempotency-Key': id, 'Fencing-Token': token };
    const response = await fetch(this.#origin, { method: 'POST', headers, body: '{}' });
    return `${response.status} ${await response.text()}`;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

function temporaryDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fencepost-server-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a token lower than the newest is refused also after a restart', async (t) => {
  const dir = temporaryDirectory(t);
  const first = new TestServer(t, dir);
  assert.equal(await first.deliver('fair', '20'), '200 delivered');
  assert.equal(await first.deliver('fair', '19'), '409 a newer token was seen');
  await first.kill();
  const second = new TestServer(t, dir);
  assert.equal(await second.deliver('fair', '19'), '409 a newer token was seen');
  assert.equal(await second.deliver('fair', '21'), '200 already delivered');
  await second.kill();
  const lines = recordLines(dir).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ outcome }) => outcome),
    ['delivered', 'fenced', 'fenced', 'repeated'],
  );
  assert.deepEqual(
    lines.map(({ applied }) => applied),
    [true, false, false, false],
  );
  assert.deepEqual(
    lines.map(({ attempt }) => attempt),
    [1, 2, 3, 4],
  );
});

test('a last line cut off by a crash is forgotten', async (t) => {
  const dir = temporaryDirectory(t);
  const first = new TestServer(t, dir);
  await first.deliver('fair', '20');
  await first.kill();
  appendFileSync(recordPath(dir), '{"id":"fair","token":99');
  const second = new TestServer(t, dir);
  assert.equal(await second.deliver('fair', '21'), '200 already delivered');
  await second.kill();
  assert.deepEqual(
    recordLines(dir).map((line) => JSON.parse(line).token),
    [20, 21],
  );
});

test('a request without key or token is refused and not recorded', async (t) => {
  const dir = temporaryDirectory(t);
  const server = new TestServer(t, dir);
  const answer = '400 Idempotency-Key and Fencing-Token are missing';
  assert.equal(await server.deliver('', '20'), answer);
  assert.equal(await server.deliver('fair', 'none'), answer);
  await server.kill();
  assert.deepEqual(recordLines(dir), []);
});
