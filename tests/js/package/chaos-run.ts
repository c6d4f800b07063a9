/**
 * One run of the chaos: ten thousand tasks, fifty handlers at once, three stores on one log, and
 * everything that can go wrong meanwhile. A fourth store reads the events and nothing else.
 */
import assert from 'node:assert/strict';
import { type Journal, memory, open, type Store, type TaskRecord } from 'fencepost';
import { type VirtualClock, virtualClock } from '../../../pkg/dist/testing/clock.js';
import { Random } from '../journal/random.js';
import { Causes, codeOf } from './chaos-causes.js';
import { type Book, type ChaosQueue, LEASE_MS } from './chaos-handlers.js';
import { Owners } from './chaos-owners.js';
import { ChaosTab } from './chaos-tab.js';

/** Of each tab. */
const SLOTS = [20, 20, 10];
const ATTEMPTS_MAX = 4;
const BATCH_MAX = 100;
const STEP_MS_MAX = 1_500;
/** For each task. */
const STEPS_MAX = 20;
const STALL_MS_MAX = 4 * LEASE_MS;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface World {
  readonly tasks: number;
  readonly random: Random;
  readonly time: VirtualClock;
  readonly tabs: readonly ChaosTab[];
  readonly observer: Store;
  readonly owners: Owners;
  readonly causes: Causes;
  readonly book: Book;
  /** Those that are known to be stored. */
  readonly ids: number[];
  /** Asked for by this run, and whether it was told that it is done. */
  readonly cancels: Map<number, boolean>;
  readonly pending: Set<Promise<void>>;
  steps: number;
  enqueued: number;
  mostRunning: number;
}

/**
 * Answers in words what happened.
 *
 * @throws AssertionError when a promise was broken
 */
export async function runChaos(seed: number, tasks: number): Promise<string> {
  const world = await begin(seed, tasks);
  const reading = read(world);
  for (; world.causes.ended < tasks; world.steps += 1) {
    const { steps, causes } = world;
    assert.ok(steps < STEPS_MAX * tasks, `in ${steps} steps ${causes.ended} tasks have ended`);
    if (world.enqueued < tasks) enqueueSome(world);
    mishap(world);
    await world.time.advance(world.random.below(STEP_MS_MAX));
    requireNone(world);
    const running = world.tabs.map((tab) => (tab.isAwake ? tab.running : 0));
    world.mostRunning = Math.max(world.mostRunning, sum(running));
  }
  await calm(world);
  await requireRows(world);
  requireChaos(world);
  await end(world);
  await reading;
  assert.equal(world.time.timers, 0, 'no timer is left');
  return inWords(world);
}

async function begin(seed: number, tasks: number): Promise<World> {
  const [random, time, log, book]: [Random, VirtualClock, Journal, Book] = [
    new Random(seed),
    virtualClock(),
    memory(),
    new Map(),
  ];
  const tabs = SLOTS.map((concurrency, at) => {
    const name = `tab ${at}`;
    return new ChaosTab({ name, seed: seed + at * 1_000, time, log, random, book, concurrency });
  });
  const observer = await open('chaos', { journal: log, clock: time, seed: BigInt(seed) });
  for (const tab of tabs) await tab.open();
  const owners = new Owners(LEASE_MS);
  const causes = new Causes({ owners, book, maxAttempts: ATTEMPTS_MAX, expiresIn });
  const [ids, cancels, pending] = [[], new Map(), new Set<Promise<void>>()];
  const counts = { steps: 0, enqueued: 0, mostRunning: 0 };
  const seen = { observer, owners, causes, book };
  return { tasks, random, time, tabs, ...seen, ids, cancels, pending, ...counts };
}

async function read({ observer, owners, causes }: World): Promise<void> {
  for await (const event of observer.events()) {
    causes.take(event);
    owners.take(event);
  }
}

/** Every twentieth task expires, sooner or later. */
function expiresIn(key: string): number {
  const number = Number(key);
  return number % 20 === 0 ? 500 + number * 7 : Infinity;
}

/** A batch is known by its keys, so it may be asked for again until it is known to be stored. */
function enqueueSome(world: World): void {
  const tab = anyAwake(world);
  if (tab === undefined) return;
  const { random, enqueued, tasks } = world;
  const size = Math.min(1 + random.below(BATCH_MAX), tasks - enqueued);
  const items = Array.from({ length: size }, (_, at) => {
    const number = enqueued + at;
    const expiry = expiresIn(String(number));
    const delay = random.below(3) === 0 ? random.below(10_000) : 0;
    return {
      payload: number,
      options: {
        key: String(number),
        maxAttempts: ATTEMPTS_MAX,
        backoff: { base: 400, max: 3_000 },
        resultRetention: Number.MAX_SAFE_INTEGER,
        priority: random.below(3),
        delay,
        ...(expiry !== Infinity && { expiresIn: expiry }),
      },
    };
  });
  world.enqueued += size;
  const asking = tab.insist((queue) => queue.enqueueMany(items));
  follow(
    world,
    asking.then((made) => {
      for (const { id } of made) world.ids.push(id);
    }),
  );
}

/** One thing that goes wrong, or none. */
function mishap(world: World): void {
  const { random, time } = world;
  const tab = anyAwake(world);
  if (tab === undefined) return;
  const kind = random.below(100);
  if (kind < 2) follow(world, tab.stall(random.below(STALL_MS_MAX)));
  else if (kind < 3) follow(world, time.freeze(random.below(STALL_MS_MAX)));
  else if (kind < 5) time.setWall(time.now() + (random.below(9) === 0 ? DAY : -random.below(HOUR)));
  else if (kind < 8) tab.restartWorker(random.below(2) * 2_000);
  else if (kind < 9) follow(world, tab.reopen());
  // An outage, a bad connection, or the end of either.
  else if (kind < 12) tab.faults = random.below(3) === 0 ? 100 : random.below(10);
  else if (kind < 30) cancelSome(world, tab);
}

function cancelSome(world: World, tab: ChaosTab): void {
  const { ids, random, cancels, owners } = world;
  const held = [...owners.held];
  for (let left = random.below(4); left > 0; left -= 1) {
    const from = random.below(2) === 0 ? held : ids;
    const id = from[random.below(from.length)];
    if (id === undefined || cancels.has(id)) continue;
    cancels.set(id, false);
    const asking = tab.insist((queue) => queue.cancel(id, `${id} is not wanted`));
    follow(
      world,
      asking.then((isDone) => {
        if (isDone) cancels.set(id, true);
      }),
    );
  }
}

function anyAwake({ tabs, random }: World): ChaosTab | undefined {
  const awake = tabs.filter((tab) => tab.isAwake);
  return awake[random.below(awake.length)];
}

function follow(world: World, promise: Promise<void>): void {
  world.pending.add(promise);
  void promise.then(() => world.pending.delete(promise));
}

/** Everything works again: what is left ends, and every promise is kept. */
async function calm(world: World): Promise<void> {
  for (const tab of world.tabs) tab.faults = 0;
  await world.time.advance(2 * STALL_MS_MAX);
  await Promise.all(world.pending);
  const idle = Promise.all(world.tabs.map((tab) => tab.idle()));
  await world.time.advance(HOUR);
  await idle;
  requireNone(world);
}

function requireNone({ owners, causes }: World): void {
  assert.deepEqual([...owners.complaints, ...causes.complaints].slice(0, 5), []);
}

/** The rows are those of the events, and of what this run asked for nothing was lost. */
async function requireRows(world: World): Promise<void> {
  const { observer, causes, ids, cancels, tasks } = world;
  const rows = await allRows(observer.queue('work'));
  causes.requireRows(rows);
  requireNone(world);
  assert.equal(new Set(ids).size, tasks, 'every task was made once');
  const known = (id: number) => rows.has(id) || causes.cancelled.has(id);
  assert.deepEqual(
    ids.filter((id) => !known(id)),
    [],
  );
  for (const [id, reason] of causes.cancelled) assert.equal(reason, `${id} is not wanted`);
  for (const [id, isDone] of cancels) {
    if (isDone) assert.ok(causes.cancelled.has(id), `${id} is said to be cancelled`);
  }
  assert.deepEqual((await observer.verify()).problems, []);
}

async function allRows(queue: ChaosQueue): Promise<Map<number, TaskRecord>> {
  const rows = new Map<number, TaskRecord>();
  let cursor: string | undefined;
  do {
    const page = await queue.list({ limit: 1_000, ...(cursor !== undefined && { cursor }) });
    for (const row of page.items) rows.set(row.id, row);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows;
}

/** It was chaos: each thing that may happen did. */
function requireChaos({ mostRunning, owners, causes, book }: World): void {
  assert.equal(mostRunning, sum(SLOTS), 'all handlers ran at once');
  assert.ok(owners.takeovers > 0);
  for (const [end, count] of Object.entries(causes.ends)) assert.ok(count > 0, `some are ${end}`);
  const codes = new Set([...book.values()].map(codeOf));
  for (const code of ['LEASE_LOST', 'CANCELLED', 'TIMED_OUT', 'STOPPED']) {
    assert.ok(codes.has(code), `some signal aborts with ${code}`);
  }
}

function inWords({ causes, owners, book, time, steps }: World): string {
  const ends = Object.entries(causes.ends).map(([end, count]) => `${count} ${end}`);
  const minutes = Math.round(time.monotonic() / 60_000);
  return (
    `${ends.join(', ')}; ${book.size} attempts, ${owners.takeovers} claims taken over, ` +
    `in ${minutes} virtual minutes and ${steps} steps`
  );
}

async function end({ tabs, observer, time }: World): Promise<void> {
  const closing = Promise.all(tabs.map((tab) => tab.close()));
  await time.advance(1_000);
  await closing;
  await observer.close();
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
