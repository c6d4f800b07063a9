/** Opens a store: journal, engine, first entry. */

import {
  copyBytes,
  invalid,
  optionalChoice,
  optionalSeed,
  optionalWhole,
  readOptions,
  readPayloadLimit,
  requireFunction,
  requireText,
  unreadable,
} from './arguments.js';
import { LogClock, requireClock, systemClock, TIMER_MAX } from './clock.js';
import { Committer } from './committer.js';
import { contextOf } from './context.js';
import { type Declared, readDeclared } from './declared.js';
import { FencepostError, shown } from './errors.js';
import { requireHost } from './host.js';
import type { Durability, Journal, News } from './journal/journal.js';
import type { EngineModule } from './load.js';
import { sharedName } from './names.js';
import { loadEngine, type Platform } from './platform/platform.js';
import { crashed, Replica } from './replica.js';
import { FAMILY } from './requests.js';
import { requireRestored, restoreBackup } from './restore.js';
import { StoreHandle } from './store.js';
import { succeed } from './succession.js';
import type { Clock, NoQueues, OpenOptions, Queues, Store } from './types.js';
import { Upkeep } from './upkeep.js';

const TIMEOUT_MS = 30_000;
const OPTIONS = [
  'journal',
  'durability',
  'maxPayloadBytes',
  'clock',
  'seed',
  'wasm',
  'timeout',
  'expectLogId',
  'restore',
  'queues',
  'onError',
] as const;
const JOURNAL_METHODS = ['open', 'commit', 'compact', 'close'] as const;
const CLOCK_METHODS = ['now', 'monotonic', 'setTimer'] as const;

interface Settings {
  readonly journal: Journal | undefined;
  readonly durability: Durability;
  readonly maxPayloadBytes: number;
  readonly clock: Clock;
  readonly seed: bigint | undefined;
  readonly wasm: unknown;
  readonly timeout: number;
  readonly expectLogId: string | undefined;
  readonly restore: Uint8Array | undefined;
  readonly declared: Declared;
  readonly onError: (error: FencepostError) => void;
}

/** What an entry exports as `open`. */
export interface Open {
  /**
   * Opens the store `name`, or makes it.
   *
   * @throws FencepostError `INVALID_ARGUMENT`, `INVALID_NAME`, `RESERVED_NAME` for a bad call;
   * `JOURNAL_LOCKED`, `JOURNAL_UNAVAILABLE` when the journal cannot be had; `JOURNAL_CORRUPT`,
   * `FORMAT_TOO_NEW` when it cannot be read; `LOG_REPLACED` when it is not the expected one
   *
   * ```ts
   * await using store = await open('my-app')
   * await store.queue('mail').enqueue({ to: 'somebody@example.com' })
   * ```
   */
  // biome-ignore lint/style/useShorthandFunctionType: editors show what is said of a signature
  <Q extends Queues = NoQueues>(name: string, options?: OpenOptions<Q>): Promise<Store<Q>>;
}

/** What a simulation sets, and users do not. */
export interface Tuning {
  /** Entries of less weight are not compacted. Default 1 MiB. */
  readonly compactBytesMin?: number;
  /** What the rows may weigh. Default 1.25 GiB. */
  readonly maxStoreBytes?: number;
}

/** On a platform, which brings an engine and, mostly, a journal. */
export function openOn(platform: Platform, { compactBytesMin, maxStoreBytes }: Tuning = {}): Open {
  return async function open(name, options) {
    const store = sharedName('name', name).text;
    const settings = readSettings(options);
    requireHost();
    const module = await loadEngine(platform, settings.wasm);
    const replica = new Replica(() => createEngine(module, store, settings, maxStoreBytes));
    // The engine has checked the name by now.
    const journal = settings.journal ?? platform.journal();
    const capture = contextOf(platform.hooks);
    requireClock(settings.clock);
    const clock = new LogClock(settings.clock, journal.now?.bind(journal), capture());
    const { timeout } = settings;
    const parts = { journal, replica, clock, timeout, compactBytesMin, capture };
    const committer = new Committer(parts);
    const { torn, tenure } = await openJournal(committer, store, settings);
    const recovered = torn && { ...torn };
    try {
      if (settings.restore !== undefined) await restoreBackup(committer, settings.restore);
      else requireRestored(replica);
      await found(committer, settings);
      requireSame(committer, store, settings);
      requireNames(replica, settings.declared);
      if (tenure !== undefined) await succeed(committer, tenure);
    } catch (error) {
      await committer.close().catch(() => undefined);
      throw error;
    }
    const { maxPayloadBytes, declared } = settings;
    const upkeep = new Upkeep(committer, settings.onError);
    const shared = { name: store, committer, upkeep, maxPayloadBytes, declared, recovered };
    // Which queues were declared is known to the compiler only.
    return new StoreHandle(shared) as Store as never;
  };
}

/** The rules of names are the engine's. @throws FencepostError `INVALID_NAME`, `RESERVED_NAME` */
function requireNames(replica: Replica, declared: Declared): void {
  for (const text of declared.names) {
    replica.use((engine) => engine.checkName('name', { family: FAMILY.shared, text }));
  }
}

function createEngine(
  module: EngineModule,
  store: string,
  settings: Settings,
  maxStoreBytes: number | undefined,
) {
  const { seed, maxPayloadBytes } = settings;
  try {
    return module.create({ store, seed, maxPayloadBytes, maxStoreBytes });
  } catch (error) {
    throw error instanceof FencepostError ? asNamed(error) : error;
  }
}

/** The engine calls `store` what users call `name`. */
function asNamed({ code, message, details }: FencepostError): FencepostError {
  return new FencepostError(code, message.replace(/^store:/, 'name:'), {
    details: details.argument === 'store' ? { ...details, argument: 'name' } : details,
  });
}

/** Reads what the journal holds. */
async function openJournal(committer: Committer, name: string, settings: Settings): Promise<News> {
  const { journal, replica } = committer;
  const { durability } = settings;
  let isLate = false;
  let wait = 0;
  const onWait = (ms: number) => {
    wait = ms;
  };
  const opening = (async () => journal.open(name, { durability, onWait }))();
  // A journal that opens after all must not stay open.
  opening.then(() => (isLate ? journal.close() : undefined)).catch(() => undefined);
  try {
    const opened = await committer.within('open', opening, wait);
    let news = opened;
    try {
      while (!(await committer.load(news))) {
        replica.rebuild();
        await committer.readJournal(0, (all) => {
          news = all;
        });
      }
      return opened;
    } catch (error) {
      await committer.within('close', journal.close()).catch(() => undefined);
      throw error instanceof FencepostError ? error : crashed(error);
    }
  } catch (error) {
    isLate = true;
    replica.free();
    throw error;
  }
}

/** The first entry of an empty journal. Of two that open at once, one founds it and both agree. */
async function found(committer: Committer, { expectLogId }: Settings): Promise<void> {
  const { replica } = committer;
  if (replica.isFounded) return;
  if (expectLogId !== undefined && !replica.isFounded) {
    throw new FencepostError('LOG_REPLACED', 'the journal is empty', {
      details: { expected: expectLogId, found: '' },
    });
  }
  await committer.ask('lone command', undefined, (engine, { now }) => {
    if (engine.store === undefined) engine.found(now);
  });
}

function requireSame({ replica }: Committer, name: string, { expectLogId }: Settings): void {
  const holds = replica.use((engine) => engine.store);
  if (holds !== name) {
    const message = `name: the journal holds the store ${shown(holds)}, not ${shown(name)}`;
    throw new FencepostError('INVALID_ARGUMENT', message, { details: { argument: 'name', holds } });
  }
  if (expectLogId === undefined || expectLogId === replica.logId) return;
  const message = `the journal holds another log: expected ${shown(expectLogId)}`;
  throw new FencepostError('LOG_REPLACED', `${message}, found ${shown(replica.logId)}`, {
    details: { expected: expectLogId, found: replica.logId },
  });
}

function readSettings(value: unknown): Settings {
  const options = readOptions('options', value, OPTIONS);
  const { journal, clock, wasm, expectLogId, restore, onError } = options;
  if (journal !== undefined) requireMethods('journal', journal, JOURNAL_METHODS);
  if (onError !== undefined) requireFunction('onError', onError);
  if (clock !== undefined) requireMethods('clock', clock, CLOCK_METHODS);
  const timeout = optionalWhole('timeout', options.timeout, 1, TIMER_MAX);
  return {
    journal: journal as Journal | undefined,
    durability: optionalChoice('durability', options.durability, ['strict', 'relaxed']) ?? 'strict',
    maxPayloadBytes: readPayloadLimit(options.maxPayloadBytes),
    clock: (clock as Clock | undefined) ?? systemClock,
    seed: optionalSeed(options.seed),
    wasm,
    timeout: Number.isNaN(timeout) ? TIMEOUT_MS : timeout,
    expectLogId: expectLogId === undefined ? undefined : requireText('expectLogId', expectLogId),
    restore: restore === undefined ? undefined : copyBytes('restore', restore),
    declared: readDeclared(options.queues),
    onError: quietly(onError as OpenOptions['onError']),
  };
}

/** What the listener throws is nobody's. */
function quietly(onError: OpenOptions['onError']): (error: FencepostError) => void {
  return (error) => {
    new Promise((resolve) => resolve(onError?.(error))).catch(() => undefined);
  };
}

function requireMethods(argument: string, value: unknown, methods: readonly string[]): void {
  if (typeof value !== 'object' || value === null)
    throw invalid(argument, 'an object', shown(value));
  try {
    for (const method of methods) {
      requireFunction(`${argument}.${method}`, (value as Record<string, unknown>)[method]);
    }
  } catch (error) {
    throw unreadable(argument, error);
  }
}
