/** What handlers do in the chaos, each thing now and then, and the book in which they write it. */
import {
  type Handler,
  type HandlerContext,
  NonRetriable,
  type Queue,
  RetryAfter,
  type Task,
} from 'fencepost';
import type { VirtualClock } from '../../../pkg/dist/testing/clock.js';
import { Random } from '../journal/random.js';
import type { StallingClock } from './stalling-clock.js';

export const LEASE_MS = 5_000;
export const RUN_MS_MAX = 15_000;
/** Long enough to be renewed twice. */
const WORK_MS = 4_000;
const RETRY_MS = 3_000;
const INSIST_MS = 200;

export type Payload = number;
export type ChaosQueue = Queue<Payload, unknown>;

/** How a handler is about to end its attempt, as far as it is the handler who does. */
export type Ending = 'complete' | 'retry' | 'bury' | 'release';

/** One attempt, as the handler saw it. */
export interface Run {
  readonly id: number;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Written before it is done, so that it is known when the log tells of it. */
  ending: Ending | null;
  /** What it is completed with, or the words of its failure. */
  words: string | null;
  /** What the handler asked for, in milliseconds. */
  delay: number;
}

/** Every attempt by its token. */
export type Book = Map<number, Run>;

interface Attempt {
  readonly task: Task<Payload>;
  readonly run: Run;
  readonly random: Random;
  readonly clock: StallingClock;
  /** Of all stores. */
  readonly time: VirtualClock;
}

type Deed = (attempt: Attempt) => unknown;

/** Each with how many of a thousand attempts take it. */
const DEEDS: readonly [Deed, weight: number][] = [
  [succeed, 647],
  [outlive, 40],
  [fail, 120],
  [failFor, 50],
  [giveUp, 25],
  [completeItself, 40],
  [buryItself, 15],
  [releaseItself, 20],
  [returnUnstorable, 10],
  [listen, 20],
  [neverEnd, 10],
  [block, 3],
];
const WEIGHTS = DEEDS.reduce((sum, [, weight]) => sum + weight, 0);

export interface HandlerParts {
  readonly book: Book;
  readonly seed: number;
  readonly clock: StallingClock;
  readonly time: VirtualClock;
}

/**
 * What an attempt does depends on the seed and its token. The trap: not on its number, which stays
 * when a task is released, so that it would be released for ever.
 */
export function chaoticHandler({ book, seed, clock, time }: HandlerParts): Handler<Payload> {
  return async (task: Task<Payload>, { signal }: HandlerContext) => {
    const { id, attempt, token } = task;
    const run: Run = { id, attempt, signal, ending: null, words: null, delay: 0 };
    book.set(token, run);
    const random = new Random(seed ^ Math.imul(token % 2 ** 32, 0x9e3779b1));
    return anyDeed(random)({ task, run, random, clock, time });
  };
}

function anyDeed(random: Random): Deed {
  let left = random.below(WEIGHTS);
  for (const [deed, weight] of DEEDS) {
    if (left < weight) return deed;
    left -= weight;
  }
  return succeed;
}

/** Writes into the book how it is going to end, and answers the words of that. */
function end({ task, run }: Attempt, ending: Ending, words = `by ${task.token}`): string {
  run.ending = ending;
  run.words = words;
  return words;
}

async function succeed(attempt: Attempt): Promise<string> {
  await attempt.clock.sleep(attempt.random.below(WORK_MS), attempt.run.signal);
  return end(attempt, 'complete');
}

/** Works longer than its lease, whatever it is told. */
async function outlive(attempt: Attempt): Promise<string> {
  await attempt.clock.sleep(LEASE_MS + attempt.random.below(LEASE_MS));
  return end(attempt, 'complete');
}

async function fail(attempt: Attempt): Promise<never> {
  await attempt.clock.sleep(attempt.random.below(WORK_MS), attempt.run.signal);
  throw new Error(end(attempt, 'retry', `not now, ${attempt.task.payload}`));
}

async function failFor(attempt: Attempt): Promise<never> {
  attempt.run.delay = attempt.random.below(RETRY_MS);
  throw new RetryAfter(attempt.run.delay, end(attempt, 'retry', 'after a while'));
}

async function giveUp(attempt: Attempt): Promise<never> {
  await attempt.clock.sleep(attempt.random.below(WORK_MS), attempt.run.signal);
  throw new NonRetriable(end(attempt, 'bury', `never, ${attempt.task.payload}`));
}

/** What it returns afterwards is nobody's business. */
async function completeItself(attempt: Attempt): Promise<string> {
  const words = end(attempt, 'complete');
  await insist(attempt, () => attempt.task.complete(words));
  return 'something else';
}

async function buryItself(attempt: Attempt): Promise<never> {
  const words = end(attempt, 'bury', 'buried');
  await insist(attempt, () => attempt.task.fail(words, { final: true }));
  throw new Error('something else');
}

async function releaseItself(attempt: Attempt): Promise<void> {
  end(attempt, 'release');
  await insist(attempt, () => attempt.task.release());
}

/** A journal that fails is tried again, as long as the task is wanted. */
async function insist({ run, clock }: Attempt, settle: () => Promise<unknown>): Promise<void> {
  const isDone = () =>
    settle().then(
      () => true,
      () => run.signal.aborted,
    );
  while (!(await isDone())) await clock.sleep(INSIST_MS, run.signal);
}

async function returnUnstorable(attempt: Attempt): Promise<bigint> {
  end(attempt, 'complete');
  attempt.run.words = null;
  return 1n;
}

/** Hangs until it is told to stop, and says with what. */
async function listen(attempt: Attempt): Promise<never> {
  await attempt.clock.sleep(Infinity, attempt.run.signal);
  throw attempt.run.signal.reason;
}

function neverEnd(): Promise<never> {
  return new Promise(() => undefined);
}

/** Nobody's timers run: what is held lapses, and the result comes too late. */
async function block(attempt: Attempt): Promise<string> {
  await attempt.time.freeze(LEASE_MS + 1 + attempt.random.below(WORK_MS));
  return end(attempt, 'complete');
}
