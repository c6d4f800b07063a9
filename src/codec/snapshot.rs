//! A snapshot as bytes: all rows at one slot, and where the log stood.

use super::entry::{read, write};
use super::envelope::{Content, Envelope, Sealed, begin, hash, open, seal};
use crate::change::{Counters, Hash, Rows};
use crate::error::Error;
use crate::id::{Instant, Version};
use crate::name::Name;
use crate::replicas::Replicas;
use crate::state::{Head, State};
use serde::{Deserialize, Serialize};

/// A decoded snapshot, not yet checked against itself.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub head: Head,
    pub counters: Counters,
    pub replicas: Replicas,
    pub rows: Rows,
}

#[derive(Serialize, Deserialize)]
struct Body {
    store: Option<Name>,
    version: Version,
    time: Instant,
    counters: Counters,
    replicas: Replicas,
    rows: Rows,
}

pub fn encode_snapshot(state: &State) -> Sealed {
    let Head { log_id, store, slot, hash: previous, version, time } = state.head.clone();
    let (counters, replicas, rows) = (state.counters, state.replicas.clone(), state.rows());
    let envelope = Envelope { log_id, slot, previous };
    let body = Body { store, version, time, counters, replicas, rows };
    seal(write(&body, begin(Content::Snapshot, envelope, 0)))
}

/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn decode_snapshot(bytes: &[u8]) -> Result<(Snapshot, Hash), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Snapshot, bytes)?;
    let body: Body = read(body).ok_or_else(|| Error::corrupt("snapshot body does not parse"))?;
    let Body { store, version, time, counters, replicas, rows } = body;
    let head = Head { log_id, store, slot, hash: previous, version, time };
    Ok((Snapshot { head, counters, replicas, rows }, hash))
}

/// Of the rows alone: where the log stands and who wrote last do not matter.
pub fn rows_hash(state: &State) -> Hash {
    hash(&write(&state.rows(), Vec::new()))
}
