/** Snapshots in parts: what is given to the engine at a time, and putting parts together. */
import { readBytes } from './arguments.js';
import { FencepostError } from './errors.js';
import type { SnapshotOperations } from './requests-snapshot.js';

const PIECE_BYTES = 1 << 20;

/** Views of the bytes: what the engine takes at a time costs memory in it. */
export function* cutForEngine(bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** Whether it is pieces, and not bytes of whatever kind. */
function isRun(value: Uint8Array | Iterable<Uint8Array>): value is Iterable<Uint8Array> {
  return Array.isArray(value) || (typeof value === 'object' && value !== null && 'next' in value);
}

/** @throws FencepostError `LIMIT_EXCEEDED` when the platform has no array of that size */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const joined = allocate(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}

function allocate(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    const message = `snapshot: there is no memory for its ${size} bytes in one piece`;
    throw new FencepostError('LIMIT_EXCEEDED', message, {
      details: { argument: 'snapshot', size },
      cause,
    });
  }
}

/** All parts of a snapshot that begins now; ended when the reader goes, if `isThere` still. */
export function* partsOf(
  engine: SnapshotOperations,
  isThere: () => boolean,
): Generator<Uint8Array, void, void> {
  const { id } = engine.beginSnapshot();
  let isOver = false;
  try {
    while (!isOver) {
      const part = engine.snapshotPart(id);
      isOver = part?.isLast ?? true;
      if (part !== undefined) yield part.bytes;
    }
  } finally {
    if (isThere()) engine.endSnapshot(id);
  }
}

/** Gives an engine a snapshot, or pieces of one. */
export function restoreInto(
  engine: SnapshotOperations,
  snapshot: Uint8Array | Iterable<Uint8Array>,
): void {
  engine.beginRestore();
  for (const piece of isRun(snapshot) ? snapshot : [snapshot]) {
    for (const part of cutForEngine(readBytes(piece, 'snapshot'))) engine.restorePart(part);
  }
  engine.endRestore();
}
