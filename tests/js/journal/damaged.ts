/** Journals of a few entries, and what becomes of copies of them that were damaged. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import { decodeFrame } from '../../../pkg/dist/journal/frame.js';
import type { Durability, News } from '../../../pkg/dist/journal/journal.js';
import { readHead } from '../../../pkg/dist/journal/log-head.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { contentOf, copyOf, quickDirectory } from './directory.js';

export const LENGTHS = [1, 9, 0, 30, 12];

/** A journal of a few entries; `bounds` is where each begins, and where the last one ends. */
export interface Original {
  path: string;
  journal: Buffer;
  bounds: number[];
}

export interface Making {
  /** What its holder did at last. */
  ends: 'closed' | 'killed';
  compactAt?: number;
  writer?: number;
  durability?: Durability;
  lengths?: readonly number[];
}

export async function original(making: Making): Promise<Original> {
  const { ends, compactAt = 0, writer = 0, durability = 'strict', lengths = LENGTHS } = making;
  const path = quickDirectory();
  const replica = new Replica(file(path, { durability }), writer);
  await replica.open('damage');
  for (const [index, length] of lengths.entries()) {
    await replica.append(patternBytes(length, index));
  }
  if (compactAt > 0) await replica.journal.compact(compactAt, [patternBytes(300, 1)]);
  const killed = copyOf(path);
  await replica.journal.close();
  const left = ends === 'killed' ? killed : path;
  const journal = readFileSync(join(left, 'journal'));
  return { path: left, journal, bounds: boundsOf(journal) };
}

function boundsOf(journal: Uint8Array): number[] {
  const { end, seed } = readHead(journal, 'journal');
  const bounds = [end];
  for (let at = end; at < journal.byteLength; ) {
    const frame = decodeFrame(journal, at, seed);
    assert.ok(!('broken' in frame));
    at = frame.end;
    bounds.push(at);
  }
  return bounds;
}

/** Opens a copy with another content of some of its files. */
export async function openWith(
  path: string,
  changes: Record<string, Uint8Array | null>,
): Promise<{ news?: News; error?: FencepostError; untouched: boolean; copy: string }> {
  const copy = copyOf(path);
  for (const [name, bytes] of Object.entries(changes)) {
    if (bytes === null) rmSync(join(copy, name));
    else writeFileSync(join(copy, name), bytes);
  }
  const content = contentOf(copy);
  const journal = file(copy);
  const untouched = (): boolean => {
    const now = contentOf(copy);
    return [...content].every(([name, bytes]) => now.get(name)?.equals(bytes)) && now.size > 0;
  };
  try {
    const news = await journal.open('damage');
    try {
      for await (const piece of news.snapshot?.parts ?? []) assert.ok(piece.byteLength > 0);
    } finally {
      await journal.close();
    }
    return { news, untouched: untouched(), copy };
  } catch (error) {
    assert.ok(error instanceof FencepostError, String(error));
    return { error, untouched: untouched(), copy };
  }
}

export async function refuses(
  path: string,
  changes: Record<string, Uint8Array | null>,
  code: string,
  named: RegExp,
): Promise<FencepostError> {
  const { error, untouched } = await openWith(path, changes);
  assert.equal(error?.code, code, `expected ${code}, got ${error}`);
  assert.match(error.message, named);
  assert.ok(untouched, 'the files are left as they were');
  return error;
}

export function flipped(bytes: Buffer, at: number, bit = 0): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}
