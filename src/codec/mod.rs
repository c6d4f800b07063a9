//! Entries and snapshots as bytes.
//!
//! ```text
//! magic "FNCP" · kind · format · minimum reader · 0        8 bytes, readable by every build
//! log id 16 · slot 8 · hash of the previous entry 16
//! length 8, in a part of a snapshot only: of the body
//! body: see `wire.rs` and `rows.rs`
//! hash 16: of everything before it; names the entry and is its checksum
//! ```
//!
//! A snapshot is a run of parts, so that it can be written and read without being in memory whole.
//! What an entry has of the one before it, a part has of the part before it: the hash of the last
//! part stands for all of them. The first part has that of the entry at the snapshot's slot.
//!
//! **Invariant:** the format stands before anything that is checksummed, so that a newer log can
//! always be told from a damaged one. A decoder meets hostile bytes: it checks every length, never
//! recurses, never panics, and gives either everything or an error.

mod entry;
mod envelope;
mod reader;
mod rows;
mod snapshot;
mod wire;

pub use entry::{EntryWriter, decode_entry};
pub use envelope::{FORMAT, Sealed};
pub use rows::RowRef;
pub use snapshot::{
    Part, PartWriter, RowsHash, Snapshot, SnapshotHead, decode_part, decode_snapshot, part_bytes,
};
