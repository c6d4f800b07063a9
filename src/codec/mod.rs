//! Entries and snapshots as bytes.
//!
//! ```text
//! magic "FNCP" · kind · format · minimum reader · 0        8 bytes, readable by every build
//! log id 16 · slot 8 · hash of the previous entry 16
//! body: see `wire.rs` and `rows.rs`
//! hash 16: of everything before it; names the entry and is its checksum
//! ```
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
pub use snapshot::{Snapshot, decode_snapshot, encode_snapshot, rows_hash};
