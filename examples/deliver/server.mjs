// @ts-check
/**
 * The loopback server, a process of its own: `server.mjs <record> <seed>`, started by
 * `server-process.mjs`. It dies with its parent, however that ends, because the channel between
 * them closes with it.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentOf, Receiver } from './receiver.mjs';
import { RecordWriter, readRecord } from './record.mjs';

/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {import('node:http').ServerResponse} ServerResponse */

const [path = '', seed = ''] = process.argv.slice(2);

process.on('disconnect', () => process.exit());
// The trap: Ctrl-C reaches the whole process group, but the parent still finishes what is running.
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {});

const writer = new RecordWriter(path);
const receiver = new Receiver(Number(seed), readRecord(path));

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    // A request cut off on its way was not received, so there is nothing to record.
    if (error.code === 'ECONNRESET') return;
    console.error(error);
    process.exit(1);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port });

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function answer(request, response) {
  const body = await bodyOf(request);
  const id = request.headers['idempotency-key'];
  const token = Number(request.headers['fencing-token']);
  if (typeof id !== 'string' || id === '' || !Number.isSafeInteger(token) || token <= 0) {
    reply(response, 400, 'Idempotency-Key and Fencing-Token are missing');
    return;
  }
  const content = contentOf(request.method ?? '', request.url ?? '', body);
  const received = receiver.receive({ id, token, content });
  writer.append(received.line);
  await sleep(received.delay_ms);
  if (received.line.status === 0) {
    request.socket.destroy();
    return;
  }
  reply(response, received.line.status, received.text, received.retryAfter_s);
}

/** @param {IncomingMessage} request */
async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} text
 * @param {number} [retryAfter_s]
 */
function reply(response, status, text, retryAfter_s) {
  if (retryAfter_s !== undefined) response.setHeader('Retry-After', retryAfter_s);
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}
