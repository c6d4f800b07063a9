/**
 * Which entries stay readable behind a snapshot, so that a live replica that is a little late gets
 * the few entries it misses instead of the whole snapshot.
 */
import type { Slot } from './journal.js';

const ENTRIES_KEPT_MAX = 64;
const BYTES_KEPT_MAX = 1 << 20;

/**
 * The oldest slot to keep behind a snapshot at `snapshotSlot`: a bounded number of entries of a
 * bounded size, down to `first` at most. Entries after the snapshot are always kept.
 */
export function oldestKept(snapshotSlot: Slot, first: Slot, bytesOf: (slot: Slot) => number): Slot {
  const lowest = Math.max(first, snapshotSlot - ENTRIES_KEPT_MAX + 1);
  let oldest = snapshotSlot + 1;
  let bytes = 0;
  while (oldest > lowest) {
    bytes += bytesOf(oldest - 1);
    if (bytes > BYTES_KEPT_MAX) break;
    oldest -= 1;
  }
  return oldest;
}
