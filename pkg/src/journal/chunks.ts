/** Large values in pieces, for storage that refuses them whole or holds them several times over. */
import { FencepostError } from '../errors.js';
import type { SnapshotParts } from './journal.js';

const CHUNK_BYTES = 1 << 20;

/** At least one chunk, and every chunk a copy. */
export function cutIntoChunks(bytes: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const chunks = [bytes.slice(0, CHUNK_BYTES)];
  for (let at = CHUNK_BYTES; at < bytes.byteLength; at += CHUNK_BYTES) {
    chunks.push(bytes.slice(at, at + CHUNK_BYTES));
  }
  return chunks;
}

/** The same bytes in chunks of one length, but for the last: at least one. */
export async function* inChunks(
  parts: SnapshotParts,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  let chunk = new Uint8Array(CHUNK_BYTES);
  let [filled, given] = [0, 0];
  for await (const part of parts) {
    for (let at = 0; at < part.byteLength; ) {
      const piece = part.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(piece, filled);
      at += piece.byteLength;
      filled += piece.byteLength;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      given += 1;
      filled = 0;
      chunk = new Uint8Array(CHUNK_BYTES);
    }
  }
  if (filled > 0 || given === 0) yield chunk.slice(0, filled);
}

/** The error of a reader whose snapshot has made way for a newer one. */
export function snapshotReplaced(): FencepostError {
  const message = 'the snapshot was replaced while it was read';
  return new FencepostError('JOURNAL_UNAVAILABLE', message, {
    details: { replaced: true, stored: false },
  });
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.byteLength;
  }
  return joined;
}
