//! Every limit of the engine, and how they relate.
//!
//! Each is checked before anything is allocated for the value it bounds.

use crate::id::{Instant, Millis};

/// Queue, lease, schedule, lock and owner names, in bytes of UTF-8.
pub const NAME_BYTES_MAX: usize = 255;
/// A plain name that the engine puts a family prefix before (`outbox`, `lock`, `effect`).
pub const PREFIXED_NAME_BYTES_MAX: usize = 200;
/// Idempotency and key-value keys, in bytes of UTF-8.
pub const KEY_BYTES_MAX: usize = 1_024;
/// The default of `maxPayloadBytes`: payload, result and key-value value.
pub const PAYLOAD_BYTES_DEFAULT: usize = 1 << 20;
/// What the record of an effect says beside its result, which is measured by whoever writes it.
pub const EFFECT_RECORD_BYTES: usize = 64;
/// Progress and lease metadata.
pub const NOTE_BYTES_MAX: usize = 64 << 10;
/// Error texts and reasons; longer ones are cut on a character boundary.
pub const TEXT_BYTES_MAX: usize = 4 << 10;
/// `enqueueMany` and `completeMany`.
pub const BATCH_ITEMS_MAX: usize = 10_000;
/// A claim and a page of a list; larger wishes are cut.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// The payloads, results and notes of one claim or page; the first item comes whatever its size.
pub const PAGE_BYTES_MAX: usize = 16 << 20;
/// Rows that one commit buries or purges.
pub const SWEEP_ROWS_MAX: usize = 1_000;
/// One journal entry.
pub const ENTRY_BYTES_MAX: usize = 16 << 20;
/// What one command may write into it; the rest is left for the commands it shares the entry with.
pub const COMMAND_BYTES_MAX: usize = 15 << 20;
/// What the rows of a store may weigh (`usage.rs`), unless an engine is told otherwise: 1.25 GiB of
/// the 2 GiB that an engine for WebAssembly has. The rest is for holes in the memory, for what a
/// commit works with, and for the rows that a snapshot keeps while commits pass it.
pub const STORE_BYTES_MAX: u64 = 5 << 28;
/// Of a snapshot, one part: it ends with the row that reaches this.
pub const PART_BYTES: usize = 1 << 20;
/// A row is a payload, a result, and little beside them.
pub const PART_BYTES_MAX: usize = 64 << 20;
/// Lists that are used again keep no more room than this.
pub const ROOM_BYTES_KEPT: usize = 2 << 20;
/// A group commit takes no further command beyond this.
pub const GROUP_BYTES_MAX: usize = (1 << 20) - (4 << 10);
/// Cancelled and buried tasks that are remembered for whoever waits for them.
pub const REMOVALS_MAX: usize = 1_024;
/// What was touched, told one by one; beyond, it is everything.
pub const TOUCHED_MAX: usize = 1_024;
/// Events that wait to be handed on: six of the largest batches.
pub const EVENTS_RECORDED_MAX: usize = 65_536;
/// Replicas whose last commit is remembered; the longest silent one is forgotten first.
pub const REPLICAS_MAX: usize = 256;
/// Schedules of one store.
pub const SCHEDULES_MAX: usize = 10_000;
/// A cron expression, and the name of a time zone.
pub const EXPRESSION_BYTES_MAX: usize = 1_024;
/// Missed boundaries of a schedule that are fired; then its grid is skipped to the future.
pub const CATCH_UP_MAX: usize = 64;
/// Tasks and schedules that one commit of firing writes.
pub const FIRED_ROWS_MAX: usize = 1_000;
/// What these may weigh together, and the largest payload of a scheduled job.
pub const FIRED_BYTES_MAX: usize = 8 << 20;
/// What such a row weighs at most without the payload: two names and some numbers.
pub const FIRED_ROW_BYTES: usize = 1 << 10;
/// The grants of a caller, and the rights of a grant.
pub const GRANTS_MAX: usize = 1_000;
/// A clock beyond the year 2200 is broken.
pub const NOW_MAX: Instant = Instant::saturating(7_258_118_400_000);
/// Tokens follow the clock in steps of this many per millisecond.
pub const TOKENS_PER_MS: u64 = 1_000;
/// A lease record without a holder is kept this long.
pub const LEASE_RECORD_RETENTION: Millis = Millis::saturating(86_400_000);

const _: () = assert!(PREFIXED_NAME_BYTES_MAX < NAME_BYTES_MAX);
const _: () = assert!(NAME_BYTES_MAX <= KEY_BYTES_MAX);
const _: () = assert!(EVENTS_RECORDED_MAX >= 6 * BATCH_ITEMS_MAX);
const _: () = assert!(NOTE_BYTES_MAX <= PAYLOAD_BYTES_DEFAULT);
const _: () = assert!(PAYLOAD_BYTES_DEFAULT + NOTE_BYTES_MAX < COMMAND_BYTES_MAX);
const _: () = assert!(COMMAND_BYTES_MAX + GROUP_BYTES_MAX < ENTRY_BYTES_MAX);
const _: () = assert!(PART_BYTES + 3 * ENTRY_BYTES_MAX < PART_BYTES_MAX);
const _: () = assert!(SWEEP_ROWS_MAX * NAME_BYTES_MAX < ENTRY_BYTES_MAX);
const _: () = assert!(2 * NAME_BYTES_MAX + 256 < FIRED_ROW_BYTES);
const _: () = assert!(FIRED_BYTES_MAX + 2 * FIRED_ROW_BYTES < COMMAND_BYTES_MAX);
const _: () = assert!(CATCH_UP_MAX < FIRED_ROWS_MAX);
// The largest token that a clock can ask for leaves as many again for grants without a clock.
const _: () = assert!(NOW_MAX.get() * TOKENS_PER_MS < crate::id::SAFE_MAX / 10 * 9);
