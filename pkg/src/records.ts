/**
 * Reads packed replies. The order of the fields is that of `src/wasm/records.rs`.
 *
 * A reply is copied out of the engine's memory once, as bytes; its records are read from the copy
 * when somebody asks for a field, so a claimed task costs one small object until its payload is
 * looked at.
 */

import { textDecoder } from './host.js';
import { INSPECT, printed } from './inspect.js';
import {
  DEAD_REASONS,
  type DeadReason,
  type EnqueuedReply,
  type EntryRoom,
  type LeaseReply,
  type PageReply,
  TASK_STATES,
  type TaskReply,
  type TaskState,
  type ValueReply,
} from './requests.js';

const ABSENT = 0xffff_ffff;
const NOTHING: Uint8Array = new Uint8Array();
const NO_VIEW: DataView = new DataView(new ArrayBuffer(0));

/** A cursor over a reply that lies in the engine's memory. */
export class ReplyReader {
  #bytes: Uint8Array = NOTHING;
  #view: DataView = NO_VIEW;
  #at = 0;
  #end = 0;

  /** The memory that replies lie in, which is another one when it has grown. */
  over(bytes: Uint8Array, view: DataView): this {
    this.#bytes = bytes;
    this.#view = view;
    return this;
  }

  reset(at: number, end: number): this {
    this.#at = at;
    this.#end = end;
    return this;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  byte(): number {
    return this.#view.getUint8(this.#at++);
  }

  flag(): boolean {
    return this.byte() !== 0;
  }

  count(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  number(): number {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  optional(): number | undefined {
    const value = this.number();
    return Number.isNaN(value) ? undefined : value;
  }

  blob(): Uint8Array | undefined {
    const size = this.count();
    return size === ABSENT ? undefined : this.raw(size);
  }

  raw(size: number): Uint8Array {
    this.#at += size;
    return this.#bytes.slice(this.#at - size, this.#at);
  }

  /** Bytes that lie beside the reply, which says where; written to a room that they fit into. */
  beside(room?: EntryRoom): Uint8Array {
    const start = this.count();
    const end = start + this.count();
    if (room === undefined || end - start > room.size) return this.#bytes.slice(start, end);
    return room.fill(this.#bytes.subarray(start, end));
  }

  skip(bytes: number): this {
    this.#at += bytes;
    return this;
  }

  text(): string | undefined {
    const size = this.count();
    if (size === ABSENT) return undefined;
    this.#at += size;
    return textDecoder().decode(this.#bytes.subarray(this.#at - size, this.#at));
  }

  /** The records up to the end, each read by `one`. */
  rest<T>(one: (reader: this) => T): T[] {
    const items: T[] = [];
    while (!this.isAtEnd) items.push(one(this));
    return items;
  }

  /**
   * The task records up to the end, read when somebody asks. They are copied out, so that whoever
   * keeps one keeps no more than a room beside it.
   */
  tasks(): TaskReply[] {
    const tasks: TaskReply[] = [];
    while (!this.isAtEnd) {
      const size = this.count();
      const id = this.#view.getFloat64(this.#at + NUMBER_AT.id, true);
      const token = this.#view.getFloat64(this.#at + NUMBER_AT.token, true);
      const at = copyOut(this.#bytes, this.#at, this.#at + size);
      tasks.push(new TaskRecordView(room.view, at, id, token));
      this.#at += size;
    }
    return tasks;
  }
}

const ROOM_BYTES = 16 << 10;
/** Where records are copied to: one piece for many; a small buffer costs more than its bytes. */
const room = { bytes: NOTHING, view: NO_VIEW, at: 0 };

/** Copies bytes into the room and tells where they begin. */
function copyOut(source: Uint8Array, start: number, end: number): number {
  const size = end - start;
  if (room.at + size > room.bytes.length) {
    // The trap: what is large gets a room that nothing else fits into.
    room.bytes = new Uint8Array(size > ROOM_BYTES / 4 ? size : ROOM_BYTES);
    room.view = new DataView(room.bytes.buffer);
    room.at = 0;
  }
  room.bytes.set(source.subarray(start, end), room.at);
  room.at += size;
  return room.at - size;
}

export function readEnqueued(reader: ReplyReader): EnqueuedReply {
  return {
    id: reader.number(),
    seq: reader.number(),
    created: reader.flag(),
    state: stateAt(reader.optional()),
  };
}

export function readLease(reader: ReplyReader): LeaseReply {
  return {
    name: reader.text() ?? '',
    owner: reader.text(),
    token: reader.number(),
    until: reader.number(),
    acquiredAt: reader.number(),
    meta: reader.blob(),
  };
}

export function readValue(key: string, reader: ReplyReader): ValueReply {
  const version = reader.optional();
  return { key, version, value: reader.blob() ?? new Uint8Array() };
}

export function readKeyedValue(reader: ReplyReader): ValueReply {
  return readValue(reader.text() ?? '', reader);
}

export function stateAt(phase: number | undefined): TaskState | undefined {
  return phase === undefined ? undefined : TASK_STATES[phase];
}

export function readNumber(reply: ReplyReader): number {
  return reply.number();
}

export function readText(reply: ReplyReader): string {
  return reply.text() ?? '';
}

export function readNothing(): undefined {
  return undefined;
}

export function readSwept(reply: ReplyReader) {
  return { expired: reply.number(), purged: reply.number(), more: reply.flag() };
}

export function readPurged(reply: ReplyReader) {
  return { count: reply.number(), more: reply.flag() };
}

export function readPage<T>(reply: ReplyReader, all: (reply: ReplyReader) => T[]): PageReply<T> {
  const more = reply.flag();
  return { items: all(reply), more };
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const NUMBERS = [
  'id',
  'seq',
  'priority',
  'state',
  'attempt',
  'maxAttempts',
  'token',
  'deadline',
  'createdAt',
  'updatedAt',
  'runAt',
  'expiresAt',
  'claimedAt',
  'diedAt',
  'deadReason',
  'boundary',
  'resultRetention',
  'lapsed',
] as const;
const BLOBS = [
  'owner',
  'lastOwner',
  'key',
  'codec',
  'lastError',
  'progress',
  'result',
  'payload',
] as const;
const BLOBS_AT = NUMBERS.length * 8;
const NUMBER_AT = Object.fromEntries(NUMBERS.map((name, position) => [name, position * 8])) as {
  readonly [name in (typeof NUMBERS)[number]]: number;
};

/** A task record that is read field by field, when asked. */
class TaskRecordView implements TaskReply {
  readonly id: number;
  readonly token: number | undefined;
  readonly #view: DataView;
  readonly #at: number;

  constructor(view: DataView, at: number, id: number, token: number) {
    this.id = id;
    this.token = Number.isNaN(token) ? undefined : token;
    this.#view = view;
    this.#at = at;
  }

  #number(name: (typeof NUMBERS)[number]): number {
    return this.#view.getFloat64(this.#at + NUMBER_AT[name], true);
  }

  #optional(name: (typeof NUMBERS)[number]): number | undefined {
    const value = this.#number(name);
    return Number.isNaN(value) ? undefined : value;
  }

  /** A view of the shared room, to be read or copied at once. */
  #look(name: (typeof BLOBS)[number]): Uint8Array | undefined {
    let at = this.#at + BLOBS_AT;
    for (let skipped = BLOBS.indexOf(name); skipped > 0; skipped--) {
      const size = this.#view.getUint32(at, true);
      at += size === ABSENT ? 4 : 4 + size;
    }
    const size = this.#view.getUint32(at, true);
    return size === ABSENT ? undefined : new Uint8Array(this.#view.buffer, at + 4, size);
  }

  #blob(name: (typeof BLOBS)[number]): Uint8Array | undefined {
    return this.#look(name)?.slice();
  }

  #text(name: (typeof BLOBS)[number]): string | undefined {
    const bytes = this.#look(name);
    return bytes === undefined ? undefined : textDecoder().decode(bytes);
  }

  /** Every field that is there; bytes as arrays of numbers. */
  toJSON(): { [field: string]: unknown } {
    const fields = this.#fields();
    for (const name of ['progress', 'result', 'payload'] as const) {
      const bytes = this[name];
      if (bytes !== undefined) fields[name] = [...bytes];
    }
    return fields;
  }

  [INSPECT](_: number, options: unknown, print: Parameters<typeof printed>[3]): string {
    return printed('RawTask', this.#fields(), options, print);
  }

  #fields(): { [field: string]: unknown } {
    const fields: { [field: string]: unknown } = { ...(this as object) };
    for (const name of [...NUMBERS, ...BLOBS]) {
      if (this[name] !== undefined) fields[name] = this[name];
    }
    return fields;
  }

  get seq(): number {
    return this.#number('seq');
  }
  get priority(): number {
    return this.#number('priority');
  }
  get state(): TaskState {
    return stateAt(this.#number('state')) ?? 'done';
  }
  get attempt(): number {
    return this.#number('attempt');
  }
  get maxAttempts(): number {
    return this.#number('maxAttempts');
  }
  get deadline(): number | undefined {
    return this.#optional('deadline');
  }
  get createdAt(): number {
    return this.#number('createdAt');
  }
  get updatedAt(): number {
    return this.#number('updatedAt');
  }
  get runAt(): number {
    return this.#number('runAt');
  }
  get expiresAt(): number | undefined {
    return this.#optional('expiresAt');
  }
  get claimedAt(): number | undefined {
    return this.#optional('claimedAt');
  }
  get diedAt(): number | undefined {
    return this.#optional('diedAt');
  }
  get deadReason(): DeadReason | undefined {
    const reason = this.#optional('deadReason');
    return reason === undefined ? undefined : DEAD_REASONS[reason];
  }
  get boundary(): number | undefined {
    return this.#optional('boundary');
  }
  get resultRetention(): number {
    return this.#number('resultRetention');
  }
  get lapsed(): boolean {
    return this.#number('lapsed') === 1;
  }
  get owner(): string | undefined {
    return this.#text('owner');
  }
  get lastOwner(): string | undefined {
    return this.#text('lastOwner');
  }
  get key(): string | undefined {
    return this.#text('key');
  }
  get codec(): string | undefined {
    return this.#text('codec');
  }
  get lastError(): string | undefined {
    return this.#text('lastError');
  }
  get progress(): Uint8Array | undefined {
    return this.#blob('progress');
  }
  get result(): Uint8Array | undefined {
    return this.#blob('result');
  }
  get payload(): Uint8Array {
    return this.#blob('payload') ?? new Uint8Array();
  }
}
