/** Writing a file so that its name always stands for a whole one: the old, or the new. */
import { type Disk, type DiskFile, writeFully } from './disk.js';

/**
 * Writes `parts` to a file beside `path`, makes it durable and gives it the name. The caller then
 * syncs the directory: until then a loss of power may bring the old file back.
 *
 * When it throws, the old file is in place and the new one is gone, or is left as `<path>.tmp`,
 * which means nothing to anybody.
 */
export async function replaceFile(
  disk: Disk,
  path: string,
  parts: readonly Uint8Array[],
): Promise<DiskFile> {
  const temporary = temporaryPath(path);
  const file = await disk.create(temporary);
  try {
    let end = 0;
    for (const part of parts) {
      await writeFully(file, part, end);
      end += part.byteLength;
    }
    await file.sync();
    await disk.rename(temporary, path);
    return file;
  } catch (error) {
    await Promise.allSettled([file.close(), disk.remove(temporary)]);
    throw error;
  }
}

export function temporaryPath(path: string): string {
  return `${path}.tmp`;
}
