/** The key-value table beside the queues. */
import { invalid } from './arguments.js';
import { decodeJson, encodeJson } from './codec.js';
import { keyName } from './names.js';
import { readNameList } from './options.js';
import { pageOf } from './page.js';
import type { Session } from './session.js';
import type { Kv, Page } from './types.js';

export class KvTable implements Kv {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async get<T>(key: string): Promise<{ key: string; value: T; version: number } | null> {
    const name = keyName(key);
    const found = await this.#session.read((engine, at) => engine.kvGet(name, at));
    if (found === undefined) return null;
    return { key, value: decodeJson(found.value) as T, version: found.version ?? 0 };
  }

  async put(key: string, value: unknown): Promise<{ version: number }> {
    const name = keyName(key);
    const bytes = encodeValue(value);
    const answer = await this.#session.command((engine, at) => engine.kvPut(name, bytes, at));
    return { version: answer.version };
  }

  async delete(key: string): Promise<boolean> {
    const name = keyName(key);
    return (await this.#session.command((engine, at) => engine.kvDelete(name, at))).reply;
  }

  async list<T>(options?: {
    prefix?: string;
    cursor?: string;
    limit?: number;
  }): Promise<Page<{ key: string; value: T; version: number }>> {
    const request = readNameList(options);
    const page = await this.#session.read((engine, at) => engine.kvList(request, at));
    return pageOf(
      page,
      ({ key, value, version }) => ({
        key,
        value: decodeJson(value) as T,
        version: version ?? 0,
      }),
      ({ key }) => key,
    );
  }
}

/** A value of the table. */
export function encodeValue(value: unknown): Uint8Array {
  if (value === undefined) throw invalid('value', 'a value', 'undefined');
  return encodeJson(value, 'value');
}
