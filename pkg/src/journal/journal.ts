/**
 * The journal: where entries and snapshots are kept. This is the seam between the store and the
 * world, and everything a new home for the data has to implement.
 *
 * A journal is a shared log with a conditional append: an entry goes into slot N only if N-1 is the
 * newest slot there ever was. That one rule is all the concurrency control there is.
 *
 * **Invariant**: it knows bytes only. It never looks into an entry, a tag or a snapshot.
 *
 * **Invariant**: slots are given out without a gap, each once, for ever. Whatever compaction
 * deleted stays refused, because the next slot follows the newest ever stored.
 *
 * **Invariant**: nothing of the size of a snapshot is ever in memory: it comes and goes in pieces.
 *
 * A journal is done when `journalConformance` of `fencepost/testing` passes on it.
 *
 * **Errors.** A journal that *knows* it stored nothing throws a `FencepostError` whose
 * `details.stored` is `false`. Anything else thrown from `commit` means *unknown*: the store reads
 * again before it believes anything, and sends the same bytes to the same slot or nothing at all.
 * Never turn unknown into "failed".
 */

/** The number of an entry in the journal; the first is 1. `0` stands for "before the first". */
export type Slot = number;

/** What `decide` gives to be stored. The journal copies both before it does anything else. */
export interface Entry {
  /** Any length up to 16 MiB, stored exactly. */
  bytes: Uint8Array;
  /** Names the entry: log id and hash, 32 bytes. The newest one is given with every `News`. */
  tag: Uint8Array;
}

/** The rows at a slot, in place of the entries up to it. */
export interface Snapshot {
  slot: Slot;
  /**
   * Its bytes in pieces, in their order, cut as it suits the journal: a few MiB at most, unless it
   * was given longer ones. Read after `open` or `commit` has returned, at once or never, and given
   * up by ending the iteration. The receiver owns the pieces.
   *
   * A snapshot that is replaced while it is read is read to its end, or the iteration throws an
   * error whose `details.replaced` is `true`: then the journal is asked again.
   */
  parts: AsyncIterable<Uint8Array>;
}

/** What there is to know after a slot. The receiver owns the bytes. */
export interface News {
  /** The newest entry ever stored, compacted or not; null in an empty journal. */
  tip: { slot: Slot; tag: Uint8Array } | null;
  /**
   * When an entry that follows on `after` is compacted away: start again from here. Whoever knows
   * nothing (`after` is 0) always begins at the snapshot, if there is one.
   */
  snapshot?: Snapshot;
  /**
   * Follow on `snapshot.slot`, or on `after`, without a gap up to the tip. Asked from beyond the
   * tip: none. The store sees from the tip that its log is not this one any more.
   */
  entries: Uint8Array[];
  /** Only from `open`: what a crash left behind the last whole entry, and was cut off. */
  torn?: Torn;
  /** Only from `open`, of a journal that one process at a time has for itself. */
  tenure?: Tenure;
}

/** What was cut off the end of a log. */
export interface Torn {
  /** How many bytes. */
  bytes: number;
  /** From which file. */
  path: string;
  /** Of the newest entry that is left; 0 when there is none. */
  slot: Slot;
  /**
   * `torn-write`: a write that was never finished, so nobody was told of it. `power-loss`: the log
   * was written `relaxed`, and its last entries, of which somebody may have been told, are lost.
   * Entries that a loss of power took without a trace are told of by nobody.
   */
  why: 'torn-write' | 'power-loss';
}

/** The time in which one process has a journal for itself, where the journal knows of such. */
export interface Tenure {
  /**
   * What the holder before noted, when it is known to have ended without closing; otherwise null.
   * Nobody else holds what was granted under a later token.
   */
  readonly since: number | null;
  /** Keeps the newest token there is, for whoever finds this holder dead. Throws when it cannot. */
  note(since: number): void;
}

/** The bytes of a snapshot that is to be stored. They are read once, and copied. */
export type SnapshotParts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** What "committed" survives: `strict` a loss of power, `relaxed` a killed process only. */
export type Durability = 'strict' | 'relaxed';

/** What the store tells its journal when it opens it. */
export interface JournalOptions {
  /** Default `strict`. What was given to the journal's own factory wins. */
  durability?: Durability;
  /**
   * Called once, before `open` returns, by a journal that may have to wait for another holder: for
   * how many milliseconds at most. The store is as patient.
   */
  onWait?: (ms: number) => void;
}

export interface Journal {
  /**
   * Open the log, create it when it is missing, and answer everything in it (`after` is 0).
   *
   * The log remembers the store's name and refuses another one: `INVALID_ARGUMENT`. What cannot be
   * understood is left as it was: `JOURNAL_CORRUPT` for damage, `FORMAT_TOO_NEW` for a later
   * format.
   */
  open(name: string, options?: JournalOptions): Promise<News>;

  /**
   * Read what was stored after `after`, give it to `decide`, store what that returns in the next
   * slot: one atomic step. The promise resolves when the entry is as durable as was asked for.
   *
   * `decide` is synchronous; nothing may be awaited between it and the append. It is called again,
   * with what is new since the last call, when another writer was first. It may return null:
   * nothing to store. When it throws, nothing is stored and `commit` rejects with what it threw.
   */
  commit(after: Slot, decide: (news: News) => Entry | null): Promise<void>;

  /**
   * Replace the entries up to `slot` by a snapshot, whose bytes come in pieces of any length.
   * Commits go on while they come: nothing that a commit needs is held meanwhile, and nothing of
   * the new snapshot is seen before all of it is stored. When it fails, or the process ends, or
   * `parts` throws, the older snapshot is as it was, and what was stored of the new one is in the
   * way of nothing and deleted at the next opportunity.
   *
   * The floor is raised durably before anything at
   * or below it is deleted; the newest few entries may stay readable behind it.
   *
   * At or below the present snapshot's slot this does nothing, decided in the same atomic step: a
   * tab that slept must not overwrite a newer snapshot. `parts` need not be read then. Beyond the
   * tip it is refused with `LOG_REPLACED`: the snapshot is of another log.
   */
  compact(slot: Slot, parts: SnapshotParts): Promise<void>;

  /**
   * A hint that there may be news, of any writer. May be lost or repeated, and is never called
   * before the method that caused it has returned. Returns the way to stop it.
   */
  watch?(onNews: () => void): () => void;

  /** The clock of a journal that several machines share: milliseconds since the Unix epoch. */
  now?(): number;

  /**
   * Waits for what was accepted, then lets go. Idempotent. Afterwards everything but `open` and
   * `close` rejects with `STORE_CLOSED`.
   */
  close(): Promise<void>;
}
