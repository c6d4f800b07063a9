//! A snapshot as bytes: all rows at one slot, and where the log stood, in parts.

use super::envelope::{
    Content, Envelope, FORMAT_FIRST, FORMAT_PARTS, HASH_BYTES, HEAD_BYTES, Sealed, begin,
    format_of, hash, open, seal,
};
use super::reader::{Reader, read};
use super::rows::RowRef;
use super::wire::{Wire, wire};
use crate::change::{Counters, Hash, LogId, Rows, StoreRow};
use crate::error::Error;
use crate::id::{Instant, Slot, Version};
use crate::limits::PART_BYTES_MAX;
use crate::name::Name;
use crate::replicas::Replicas;
use crate::state::Head;

const LENGTH_BYTES: usize = 8;
/// What a part weighs beside its body.
const FRAME_BYTES: usize = HEAD_BYTES + LENGTH_BYTES + HASH_BYTES;

/// What a snapshot says before its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    pub store: Option<Name>,
    pub version: Version,
    pub time: Instant,
    pub counters: Counters,
    pub replicas: Replicas,
}

wire! { struct SnapshotHead { store, version, time, counters, replicas } }

/// Writes one part.
#[derive(Debug)]
pub struct PartWriter {
    bytes: Vec<u8>,
}

impl PartWriter {
    /// `previous`: the hash of the part before; of the first: of the entry at the slot. Only the
    /// first has the head.
    pub fn begin(
        log_id: LogId,
        slot: Slot,
        previous: Hash,
        number: u64,
        head: Option<&SnapshotHead>,
        room: usize,
    ) -> Self {
        let envelope = Envelope { log_id, slot, previous };
        let mut bytes = begin(Content::Snapshot, FORMAT_PARTS, envelope, LENGTH_BYTES + room);
        bytes.extend_from_slice(&[0; LENGTH_BYTES]);
        number.put(&mut bytes);
        bytes.push(u8::from(head.is_some()));
        if let Some(head) = head {
            head.put(&mut bytes);
        }
        Self { bytes }
    }

    pub fn put(&mut self, row: RowRef<'_>) {
        row.put(&mut self.bytes);
    }

    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub fn finish(mut self) -> Sealed {
        let body = (self.bytes.len() - HEAD_BYTES - LENGTH_BYTES) as u64;
        self.bytes[HEAD_BYTES..][..LENGTH_BYTES].copy_from_slice(&body.to_le_bytes());
        seal(self.bytes)
    }
}

/// What a part has before its rows.
#[derive(Debug)]
pub struct Part {
    pub log_id: LogId,
    pub slot: Slot,
    pub previous: Hash,
    pub hash: Hash,
    pub number: u64,
    pub head: Option<SnapshotHead>,
}

/// How many bytes the part has that begins here; `None` when that cannot be told yet, and for a
/// snapshot in one piece, as builds of the first format wrote it.
///
/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn part_bytes(bytes: &[u8]) -> Result<Option<usize>, Error> {
    if format_of(Content::Snapshot, bytes)?.is_none_or(|format| format == FORMAT_FIRST) {
        return Ok(None);
    }
    let length = bytes.get(HEAD_BYTES..).and_then(<[u8]>::first_chunk);
    let Some(length) = length.map(|length| u64::from_le_bytes(*length)) else { return Ok(None) };
    if length > PART_BYTES_MAX as u64 {
        return Err(Error::corrupt("snapshot has a part that is too long"));
    }
    Ok(Some(FRAME_BYTES + length as usize))
}

/// Gives the head to `begin`, then each of the rows to `take`.
///
/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`, and what `begin` and `take` answer.
pub fn decode_part(
    bytes: &[u8],
    begin: impl FnOnce(Part) -> Result<(), Error>,
    mut take: impl FnMut(StoreRow) -> Result<(), Error>,
) -> Result<(), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Snapshot, bytes)?;
    let unreadable = || Error::corrupt("snapshot body does not parse");
    let body = body.get(LENGTH_BYTES..).ok_or_else(unreadable)?;
    let mut answer = Ok(());
    let whole = read(body, |reader| {
        let number = Wire::take(reader);
        let head = Wire::take(reader);
        if reader.failed() {
            return;
        }
        answer = begin(Part { log_id, slot, previous, hash, number, head });
        while answer.is_ok() && !reader.is_at_end() {
            let row = StoreRow::take(reader);
            if reader.failed() {
                return;
            }
            answer = take(row);
        }
        if answer.is_err() {
            reader.fail();
        }
    });
    answer?;
    whole.ok_or_else(unreadable)
}

/// A snapshot in one piece, as builds of the first format wrote it; not yet checked against itself.
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

/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn decode_snapshot(bytes: &[u8]) -> Result<(Snapshot, Hash), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Snapshot, bytes)?;
    let Body { store, version, time, counters, replicas, rows } =
        read(body, Body::take).ok_or_else(|| Error::corrupt("snapshot body does not parse"))?;
    let head = Head { log_id, store, slot, hash: previous, version, time, is_restoring: false };
    Ok((Snapshot { head, counters, replicas, rows }, hash))
}

/// Hashes rows without having all of their bytes at once.
#[derive(Debug, Default)]
pub struct RowsHash {
    so_far: Hash,
    bytes: Vec<u8>,
}

const HASHED_BYTES: usize = 64 << 10;

impl RowsHash {
    pub fn put(&mut self, row: RowRef<'_>) {
        row.put(&mut self.bytes);
        if self.bytes.len() >= HASHED_BYTES {
            self.fold();
        }
    }

    pub fn finish(mut self) -> Hash {
        self.fold();
        self.so_far
    }

    fn fold(&mut self) {
        self.bytes.extend_from_slice(&self.so_far);
        self.so_far = hash(&self.bytes);
        self.bytes.clear();
    }
}
