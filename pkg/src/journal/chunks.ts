/** Large values in pieces, for storage that refuses them whole or holds them several times over. */

const CHUNK_BYTES = 1 << 20;

/** At least one chunk, and every chunk a copy. */
export function cutIntoChunks(bytes: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const chunks = [bytes.slice(0, CHUNK_BYTES)];
  for (let at = CHUNK_BYTES; at < bytes.byteLength; at += CHUNK_BYTES) {
    chunks.push(bytes.slice(at, at + CHUNK_BYTES));
  }
  return chunks;
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
