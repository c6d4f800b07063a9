/**
 * The peer: a minimal engine of the same semantics in plain JavaScript, as good as we could make it
 * in a page of code. Ready order by priority, due time and sequence; leases with fencing tokens;
 * keys that are kept after completion; decide, make an entry with a checksum, merge. No
 * transactions, no second index, no limits, no snapshots.
 */
import { Heap } from './heap.mjs';

const LEASE_MS = 300_000;
const KEY_RETENTION_MS = 86_400_000;
const HEAD_BYTES = 64;
const encoder = new TextEncoder();

function before(one, other) {
  return other.priority - one.priority || one.runAt - other.runAt || one.seq - other.seq;
}

export class BaselineEngine {
  #tasks = new Map();
  #keys = new Map();
  #keptKeys = new Map();
  #ready = new Heap(before);
  #scheduled = new Heap((one, other) => one.runAt - other.runAt || one.seq - other.seq);
  #inflight = new Heap((one, other) => one.deadline - other.deadline || one.seq - other.seq);
  #lastId = 0;
  #lastToken = 0;
  #slot = 0;
  #hash = 0;
  #staged = [];
  #buffer = new Uint8Array(1 << 16);
  #view = new DataView(this.#buffer.buffer);

  enqueue({ payload, key, priority = 0, delay = 0 }, now) {
    if (key !== undefined) {
      const holder = this.#keys.get(key) ?? this.#kept(key, now);
      if (holder) return { id: holder.id, seq: holder.seq, created: false };
    }
    const id = this.#lastId + this.#staged.length + 1;
    const runAt = now + delay;
    const task = { id, seq: id, payload, key, priority, runAt, attempt: 0, state: 'waiting' };
    this.#staged.push({ kind: 0, task, now });
    return { id, seq: id, created: true };
  }

  claim({ owner, lease = LEASE_MS }, now) {
    this.#promote(now);
    const task = this.#ready.peek();
    if (!task) return [];
    const token = Math.max(this.#lastToken + 1, now * 1_000);
    const { attempt } = task;
    const row = { token, owner, deadline: now + lease, claimedAt: now, attempt: attempt + 1 };
    this.#staged.push({ kind: 1, task, row, now });
    return [{ ...task, ...row, state: 'inflight' }];
  }

  complete({ id, token }, now) {
    const task = this.#tasks.get(id);
    if (!task) return { ok: false, reason: 'gone' };
    if (task.state !== 'inflight') return { ok: false, reason: 'settled' };
    if (task.token !== token) return { ok: false, reason: 'fenced' };
    if (task.deadline < now) return { ok: false, reason: 'expired' };
    this.#staged.push({ kind: 2, task, now });
    return { ok: true };
  }

  /** A lent entry lies in the engine's own buffer until the next one. */
  takeEntry(isLent) {
    let at = HEAD_BYTES;
    for (const change of this.#staged) at = this.#write(change, at);
    this.#view.setFloat64(0, this.#slot + 1);
    this.#view.setUint32(8, this.#hash);
    let hash = 0x811c9dc5;
    for (let position = 0; position < at; position++) {
      hash = Math.imul(hash ^ this.#buffer[position], 0x01000193);
    }
    this.#hash = hash >>> 0;
    this.#view.setUint32(at, this.#hash);
    return isLent ? this.#buffer.subarray(0, at + 4) : this.#buffer.slice(0, at + 4);
  }

  merge() {
    for (const { kind, task, row, now } of this.#staged) {
      if (kind === 0) this.#add(task, now);
      else if (kind === 1) this.#start(task, row);
      else this.#remove(task, now);
    }
    this.#staged.length = 0;
    this.#slot++;
  }

  #write({ kind, task, row, now }, start) {
    const view = this.#view;
    let at = start;
    view.setUint8(at, kind);
    view.setFloat64(at + 1, task.id);
    view.setFloat64(at + 9, now);
    at += 17;
    if (kind === 0) {
      view.setFloat64(at, task.priority);
      view.setFloat64(at + 8, task.runAt);
      at = this.#text(task.key ?? '', at + 16);
      view.setUint32(at, task.payload.length);
      this.#buffer.set(task.payload, at + 4);
      at += 4 + task.payload.length;
    } else if (kind === 1) {
      view.setFloat64(at, row.token);
      view.setFloat64(at + 8, row.deadline);
      view.setFloat64(at + 16, row.attempt);
      at = this.#text(row.owner, at + 24);
    }
    return at;
  }

  #text(text, at) {
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(at + 4));
    this.#view.setUint32(at, written);
    return at + 4 + written;
  }

  #add(task, now) {
    this.#lastId = task.id;
    this.#tasks.set(task.id, task);
    if (task.key !== undefined) this.#keys.set(task.key, task);
    (task.runAt <= now ? this.#ready : this.#scheduled).push(task);
  }

  #start(task, row) {
    this.#ready.pop();
    this.#lastToken = row.token;
    Object.assign(task, row, { state: 'inflight' });
    this.#inflight.push({ task, token: row.token, deadline: row.deadline, seq: task.seq });
  }

  #remove(task, now) {
    task.state = 'gone';
    this.#tasks.delete(task.id);
    if (task.key === undefined) return;
    this.#keys.delete(task.key);
    const { id, seq } = task;
    this.#keptKeys.set(task.key, { id, seq, until: now + KEY_RETENTION_MS });
  }

  #kept(key, now) {
    const kept = this.#keptKeys.get(key);
    return kept && kept.until > now ? kept : undefined;
  }

  #promote(now) {
    while (this.#scheduled.peek()?.runAt <= now) this.#ready.push(this.#scheduled.pop());
    while (this.#inflight.peek()?.deadline < now) {
      const { task, token } = this.#inflight.pop();
      if (task.state === 'inflight' && task.token === token) this.#ready.push(task);
    }
  }
}
