/** Starts workers, and calls the steps in them. */

const SCRIPT = new URL('./worker.js', import.meta.url);
const workers = new Map();

const MAKERS = {
  worker: () => new Worker(SCRIPT, { type: 'module' }),
  'shared worker': () => new SharedWorker(SCRIPT, { type: 'module' }).port,
  'service worker': startServiceWorker,
};

/** Starts one, and calls it `kind`. */
export async function startWorker(kind) {
  const worker = await MAKERS[kind]();
  worker.start?.();
  workers.set(kind, worker);
}

/** Calls a function of `steps.js` in it. */
export function callWorker(kind, step, args) {
  const { port1, port2 } = new MessageChannel();
  workers.get(kind).postMessage({ step, args }, [port2]);
  return new Promise((resolve, reject) => {
    port1.onmessage = ({ data: { value, error } }) => {
      port1.close();
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
  });
}

async function startServiceWorker() {
  const registration = await navigator.serviceWorker.register(SCRIPT, { type: 'module' });
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  await new Promise((resolve, reject) => {
    const look = () => {
      if (worker.state === 'activated') resolve();
      if (worker.state === 'redundant') reject(new Error('the service worker was refused'));
    };
    worker.onstatechange = look;
    look();
  });
  return worker;
}
