/** Fencing off a writer that may still have a write under way. */
import { type Disk, writeFully } from './disk.js';
import { temporaryPath } from './replace-file.js';

const PIECE_BYTES = 1 << 20;

/**
 * Puts a copy in the place of a file, which from then on is nobody's: what a former holder still
 * writes goes where nobody reads, and it can tell so by the file's links.
 */
export async function moveAside(disk: Disk, path: string): Promise<void> {
  const old = await disk.open(path);
  if (old === null) return;
  try {
    const copy = await disk.create(temporaryPath(path));
    try {
      const piece = new Uint8Array(PIECE_BYTES);
      for (let at = 0, count = -1; count !== 0; at += count) {
        count = await old.read(piece, at);
        await writeFully(copy, piece.subarray(0, count), at);
      }
      await copy.sync();
    } finally {
      await copy.close();
    }
    await disk.rename(temporaryPath(path), path);
  } finally {
    await old.close();
  }
}
