/** Any kind of worker: answers calls of steps over the port that comes with each. */
import * as all from './steps.js';

const steps = new Map(Object.entries(all));

addEventListener('message', serve);
// A shared worker is spoken to through a port of its own.
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = serve;
});
// A service worker takes over from none before it.
addEventListener('install', () => globalThis.skipWaiting?.());

function serve(event) {
  const { data: call, ports } = event;
  const answered = answer(call, ports[0]);
  // A service worker ends when its events are over.
  event.waitUntil?.(answered);
}

async function answer({ step, args }, port) {
  try {
    port.postMessage({ value: await steps.get(step)(...args) });
  } catch (error) {
    port.postMessage({ error: `${error}\n${error.stack}` });
  }
}
