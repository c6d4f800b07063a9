/** The scripts' children end with the script. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const COMMAND = new URL('../../../scripts/command.mjs', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Connects, and then lives as long as nobody ends it. */
const CHILD = "require('node:net').connect(Number(process.argv[1]), '127.0.0.1')";
const SCRIPT = `
  const { run } = await import(process.argv[1]);
  const child = () => run(process.execPath, ['-e', ${JSON.stringify(CHILD)}, process.argv[2]]);
  await Promise.all([child(), child(), child()]);
`;

test('a script that is ended while several children run leaves none of them behind', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const args = ['--input-type=module', '-e', SCRIPT, COMMAND, String(address.port)];
  const script = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  while (sockets.length < 3) await once(server, 'connection');
  // A socket is closed when its process ends, and not before.
  const closed = sockets.map((socket) => once(socket.on('error', () => {}).resume(), 'close'));
  script.kill('SIGTERM');
  const [code] = await once(script, 'exit');
  await Promise.all(closed);
  server.close();
  assert.equal(code, 128 + 15);
});
