/**
 * The queues that a store was opened with: how tasks are stamped and encoded wherever no handle
 * says so.
 */
import { invalid, unreadable } from './arguments.js';
import { FencepostError, quote, shown } from './errors.js';
import { sharedName } from './names.js';
import { OUTBOX_QUEUE, PLAIN_QUEUE, type QueueDefaults, readQueueOptions } from './options.js';
import { FAMILY, type FullName } from './requests.js';
import type { QueueDeclaration, QueueOptions } from './types.js';

/**
 * Declares a queue for the option `queues` of `open`: its options, and the types of its payloads
 * and results.
 *
 * ```ts
 * const queues = { mail: queue<Mail>({ maxAttempts: 5 }) }
 * const store = await open('app', { queues })
 * await store.queue('mail').enqueue({ to: 'ada' }) // a Mail, stamped with five attempts
 * ```
 */
export function queue<P = unknown, R = unknown>(
  options: QueueOptions = {},
): QueueDeclaration<P, R> {
  return options;
}

export class Declared {
  readonly #byName: ReadonlyMap<string, QueueDefaults>;

  constructor(byName: ReadonlyMap<string, QueueDefaults> = new Map()) {
    this.#byName = byName;
  }

  get names(): Iterable<string> {
    return this.#byName.keys();
  }

  of({ family, text }: FullName): QueueDefaults {
    if (family === FAMILY.outbox) return OUTBOX_QUEUE;
    return this.#byName.get(text) ?? PLAIN_QUEUE;
  }
}

/** @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME`, which name the queue */
export function readDeclared(value: unknown): Declared {
  if (value === undefined) return new Declared();
  if (typeof value !== 'object' || value === null)
    throw invalid('queues', 'an object', shown(value));
  return new Declared(new Map(entriesOf(value).map(readOne)));
}

function entriesOf(value: object): [string, unknown][] {
  try {
    return Object.entries(value);
  } catch (error) {
    throw unreadable('queues', error);
  }
}

function readOne([name, options]: [string, unknown]): [string, QueueDefaults] {
  const argument = `queues[${quote(name)}]`;
  try {
    if (options === undefined) throw invalid('options', 'an object', 'undefined');
    return [sharedName('name', name).text, readQueueOptions(options)];
  } catch (error) {
    if (!(error instanceof FencepostError)) throw error;
    const { code, details, cause } = error;
    throw new FencepostError(code, `${argument}: ${error.message}`, {
      details: { ...details, argument },
      cause,
    });
  }
}
