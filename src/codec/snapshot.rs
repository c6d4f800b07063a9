//! A snapshot as bytes: all rows at one slot, and where the log stood.

use super::envelope::{Content, Envelope, Sealed, begin, hash, open, seal};
use super::reader::{Reader, read};
use super::rows::put_rows;
use super::wire::{Wire, wire};
use crate::change::{Counters, Hash, Rows};
use crate::error::Error;
use crate::id::{Instant, Version};
use crate::name::Name;
use crate::replicas::Replicas;
use crate::state::{Head, State};

/// A decoded snapshot, not yet checked against itself.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub head: Head,
    pub counters: Counters,
    pub replicas: Replicas,
    pub rows: Rows,
}

struct Body {
    store: Option<Name>,
    version: Version,
    time: Instant,
    counters: Counters,
    replicas: Replicas,
    rows: Rows,
}

wire! { struct Body { store, version, time, counters, replicas, rows } }

/// As [`Body`], without a copy of the rows.
pub fn encode_snapshot(state: &State) -> Sealed {
    let Head { log_id, store, slot, hash: previous, version, time } = &state.head;
    let envelope = Envelope { log_id: *log_id, slot: *slot, previous: *previous };
    let mut bytes = begin(Content::Snapshot, envelope, 0);
    store.put(&mut bytes);
    version.put(&mut bytes);
    time.put(&mut bytes);
    state.counters.put(&mut bytes);
    state.replicas.put(&mut bytes);
    put_rows(state, &mut bytes);
    seal(bytes)
}

/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn decode_snapshot(bytes: &[u8]) -> Result<(Snapshot, Hash), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Snapshot, bytes)?;
    let Body { store, version, time, counters, replicas, rows } =
        read(body, Body::take).ok_or_else(|| Error::corrupt("snapshot body does not parse"))?;
    let head = Head { log_id, store, slot, hash: previous, version, time };
    Ok((Snapshot { head, counters, replicas, rows }, hash))
}

/// Of the rows alone: where the log stands and who wrote last do not matter.
pub fn rows_hash(state: &State) -> Hash {
    let mut bytes = Vec::new();
    put_rows(state, &mut bytes);
    hash(&bytes)
}
