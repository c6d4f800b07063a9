/** The lock of a disk that nobody else has. */
import type { Lock } from '../../../pkg/dist/journal/lockfile.js';

const LOCK: Lock = {
  isHeld: () => true,
  release: () => undefined,
  mustFence: false,
  since: null,
  note: () => undefined,
};

export async function noLock(): Promise<Lock> {
  return LOCK;
}
