/** What the appending process writes, so that its parent can tell it again. */
import { patternBytes } from '../../../pkg/dist/testing/replica.js';

export function entryBytes(slot: number): Uint8Array {
  return patternBytes(1 + ((slot * 2654435761) % 3000), slot);
}

export function snapshotBytes(slot: number): Uint8Array {
  return patternBytes(20_000, slot);
}
