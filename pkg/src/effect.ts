/**
 * Effects: a checkpoint around something outside of the store, over key-value rows and
 * transactions.
 *
 * ```text
 *  (nothing) ──begin──> pending ──complete──> committed
 *                        └── begin again: pending, it may or may not have happened
 * ```
 */
import { readOptions, requireSize } from './arguments.js';
import { decodeJson, encodeJson } from './codec.js';
import { FencepostError } from './errors.js';
import type { Bridge, FullName, Moment, WriteRequest } from './requests.js';
import type { Session } from './session.js';
import type { Effect, Write } from './types.js';
import { readWrites } from './writes.js';

type Checkpoint =
  | { state: 'pending'; attempts: number }
  | { state: 'committed'; attempts: number; result: unknown };

export class EffectHandle implements Effect {
  readonly #session: Session;
  readonly #key: FullName;
  readonly #resultBytesMax: number;

  /** `resultBytesMax`: what a result may have, encoded. */
  constructor(session: Session, key: FullName, resultBytesMax: number) {
    this.#session = session;
    this.#key = key;
    this.#resultBytesMax = resultBytesMax;
  }

  async begin() {
    const before = await this.#inTransaction((engine, at) => {
      const found = this.#read(engine, at);
      if (found?.state === 'committed') return found;
      const attempts = (found?.attempts ?? 0) + 1;
      this.#write({ state: 'pending', attempts }, engine, at);
      return found === null ? null : { ...found, attempts };
    });
    if (before === null) return { state: 'fresh' as const };
    if (before.state === 'pending') return before;
    return { state: before.state, result: before.result };
  }

  async complete(result: unknown, options?: { writes?: Write[] }) {
    const { writes } = readOptions('options', options, ['writes']);
    const requests = readWrites(writes);
    const encoded = encodeJson(result === undefined ? null : result, 'result');
    requireSize('result', encoded, this.#resultBytesMax);
    const kept = decodeJson(encoded);
    return this.#inTransaction((engine, at) => {
      const found = this.#read(engine, at);
      if (found?.state === 'committed') return { applied: false, result: found.result };
      applyWrites(requests, engine, at);
      const attempts = found?.attempts ?? 0;
      this.#write({ state: 'committed', attempts, result: kept }, engine, at);
      return { applied: true, result: kept };
    });
  }

  async status() {
    const found = await this.#session.read((engine, at) => engine.kvGet(this.#key, at));
    return found === undefined ? null : (decodeJson(found.value) as Checkpoint);
  }

  async #inTransaction<T>(body: (engine: Bridge, at: Moment) => T): Promise<T> {
    const { reply } = await this.#session.command((engine, at) => {
      const now = engine.txBegin(at.now);
      const moment = { ...at, now };
      try {
        const value = body(engine, moment);
        engine.txCommit(now);
        return value;
      } catch (error) {
        if (error instanceof FencepostError) engine.txAbort();
        throw error;
      }
    });
    return reply;
  }

  #read(engine: Bridge, at: Moment): Checkpoint | null {
    const found = engine.txKvGet(this.#key, at);
    return found === undefined ? null : (decodeJson(found.value) as Checkpoint);
  }

  #write(checkpoint: Checkpoint, engine: Bridge, at: Moment): void {
    engine.kvPut(this.#key, encodeJson(checkpoint, 'result'), at);
  }
}

/** Checks first: they see the state before. */
function applyWrites(writes: readonly WriteRequest[], engine: Bridge, at: Moment): void {
  for (const write of writes) {
    if (write.kind !== 'check') continue;
    const outcome = engine.txCheck(write.key, write.version, at);
    if (!outcome.ok) throw checkFailed(write, outcome.details);
  }
  for (const write of writes) {
    if (write.kind === 'put') engine.kvPut(write.key, write.value, at);
    if (write.kind === 'delete') engine.kvDelete(write.key, at);
  }
}

function checkFailed(
  { key }: WriteRequest,
  details: Record<string, unknown> | undefined,
): FencepostError {
  const message = `the version of the key ${JSON.stringify(key.text)} is not the expected one`;
  return new FencepostError('CHECK_FAILED', message, { details: details ?? {} });
}
