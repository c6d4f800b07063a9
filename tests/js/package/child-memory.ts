/**
 * Uses stores and tells how large everything is, as one line of JSON per measurement: the largest
 * engine, and what the process holds after a collection.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { memory, open } from 'fencepost';
import { Engine } from 'fencepost/engine';

declare const gc: () => void;

const BATCH = 100;
/** Enqueued, claimed, completed. */
const OPERATIONS_PER_TASK = 3;
const PAYLOAD = 'x'.repeat(200);

const [what = '', amount = '0', measurements = '1'] = process.argv.slice(2);
const engines = new Set<WeakRef<WebAssembly.Memory>>();

// Every engine passes through here, and a weak reference keeps none alive.
const { Instance } = WebAssembly;
WebAssembly.Instance = new Proxy(Instance, {
  construct(target, args: ConstructorParameters<typeof Instance>) {
    const instance = new target(...args);
    engines.add(new WeakRef(instance.exports.memory as WebAssembly.Memory));
    return instance;
  },
});

async function measure(): Promise<void> {
  // The trap: what a weak reference was made of lives until the end of that turn.
  await turn();
  gc();
  const sizes = [...engines].map((it) => it.deref()?.buffer.byteLength ?? 0);
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const alive = sizes.filter((size) => size > 0).length;
  console.log(JSON.stringify({ engine: Math.max(0, ...sizes), alive, heapUsed, arrayBuffers }));
}

async function operate(operations: number): Promise<void> {
  const store = await open('memory', { journal: memory() });
  const queue = store.queue('mail');
  const batch = Array.from({ length: BATCH }, () => ({ payload: PAYLOAD }));
  await measured(operations / BATCH / OPERATIONS_PER_TASK, async () => {
    await queue.enqueueMany(batch);
    const tasks = await queue.claim('worker', { max: BATCH });
    await queue.completeMany(tasks);
  });
  await store.close();
}

async function openAndClose(): Promise<void> {
  const store = await open('memory', { journal: memory() });
  await store.queue('mail').enqueue(PAYLOAD);
  await store.close();
}

/**
 * Holds more and more, until the engine gets no more memory: the last size, and how many there
 * were. Payloads are larger than what the engine's own tables ask for at once.
 */
async function fill(): Promise<void> {
  const engine = await Engine.load();
  const [memory] = [...engines].map((it) => it.deref());
  const sizes = new Set<number>();
  const payload = new Uint8Array(10_000);
  try {
    for (;;) {
      sizes.add(memory?.buffer.byteLength ?? 0);
      engine.queueEnqueue({ queue: 'mail', payload }, 0);
      engine.merge(engine.takeEntry() ?? payload);
    }
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
  }
  console.log(JSON.stringify({ engine: Math.max(...sizes), sizes: sizes.size }));
}

/** Does it at least so many times, and measures in between. */
async function measured(times: number, work: () => Promise<void>): Promise<void> {
  for (let measurement = 0; measurement < Number(measurements); measurement += 1) {
    for (let time = 0; time < times / Number(measurements); time += 1) await work();
    await measure();
  }
}

/** Where there is too little memory for an engine. */
async function begin(): Promise<void> {
  const opened = open('memory', { journal: memory() });
  for (const made of [Engine.load(), opened]) {
    const { code, message } = (await made.then(
      () => ({ code: 'none', message: 'it was made' }),
      (error) => error,
    )) as { code?: string; message: string };
    console.log(JSON.stringify({ code, message }));
  }
}

const works = {
  operate: () => operate(Number(amount)),
  cycle: () => measured(Number(amount), openAndClose),
  fill,
  begin,
};
await works[what as keyof typeof works]();
