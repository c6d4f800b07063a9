/** What the package asks of the engine about snapshots, and about how much there is in it. */

/** Rows of a kind, and what they weigh. */
export interface AmountReply {
  readonly rows: number;
  readonly bytes: number;
}

/** What all rows weigh and may weigh, and what there is of each kind. */
export interface UsageReply {
  readonly bytes: number;
  readonly limit: number;
  readonly tasks: AmountReply;
  readonly payloads: AmountReply;
  readonly results: AmountReply;
  readonly keys: AmountReply;
  readonly values: AmountReply;
  readonly leases: AmountReply;
  readonly schedules: AmountReply;
  readonly queues: AmountReply;
}

export interface SnapshotOperations {
  /** Takes the place of one that was begun before. `slot`: what it is of. */
  beginSnapshot(): { id: number; slot: number };
  /** The next part; absent behind the last one. Entries may be merged between two. */
  snapshotPart(id: number): { bytes: Uint8Array; isLast: boolean } | undefined;
  endSnapshot(id: number): void;
  beginRestore(): void;
  /** The next bytes of a snapshot, however they were cut. */
  restorePart(bytes: Uint8Array): void;
  /** Replaces everything by the snapshot that has come. */
  endRestore(): void;
  /** Founds a log whose rows are those of a snapshot that is to be put behind this entry. */
  foundRestoring(now: number): void;
  /** Makes what was restored the rows of the log that an entry founded. */
  adopt(entry: Uint8Array): void;
  /** Whether the log waits for the snapshot that it is founded on. */
  readonly isRestoring: boolean;
  usage(): UsageReply;
}
