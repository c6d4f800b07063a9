//! An entry as bytes. Changes are written as their commands end, so that the size of the entry is
//! known before it is sealed.

use super::envelope::{Content, Envelope, Sealed, begin, open, seal};
use crate::change::{Body, Change, CommitId, Counters, Entry, Hash};
use crate::error::Error;
use crate::id::Instant;
use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Collects the changes of an entry.
#[derive(Debug, Default)]
pub struct EntryWriter {
    changes: Vec<u8>,
}

/// As [`Body`], without the changes: postcard writes fields one after the other, and a list as its
/// length and its items.
#[derive(Serialize)]
struct BodyHead<'a> {
    commit: CommitId,
    time: Instant,
    counters: Counters,
    command_ends: &'a [u32],
    change_count: u64,
}

impl EntryWriter {
    pub fn append(&mut self, change: &Change) {
        let buffer = std::mem::take(&mut self.changes);
        self.changes = write(change, buffer);
    }

    /// The bytes of the changes so far.
    pub fn size(&self) -> usize {
        self.changes.len()
    }

    pub fn truncate(&mut self, bytes: usize) {
        self.changes.truncate(bytes);
    }

    pub fn clear(&mut self) {
        self.changes.clear();
    }

    /// The whole entry; `entry.body.changes` are those appended.
    pub fn finish(&mut self, entry: &Entry) -> Sealed {
        let Entry { log_id, slot, previous, body } = entry;
        let envelope = Envelope { log_id: *log_id, slot: *slot, previous: *previous };
        let head = BodyHead {
            commit: body.commit,
            time: body.time,
            counters: body.counters,
            command_ends: &body.command_ends,
            change_count: body.changes.len() as u64,
        };
        let mut bytes = write(&head, begin(Content::Entry, envelope, 64 + self.changes.len()));
        bytes.extend_from_slice(&self.changes);
        self.changes.clear();
        seal(bytes)
    }
}

/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn decode_entry(bytes: &[u8]) -> Result<(Entry, Hash), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Entry, bytes)?;
    let body: Body = read(body).ok_or_else(|| Error::corrupt("entry body does not parse"))?;
    Ok((Entry { log_id, slot, previous, body }, hash))
}

/// Appends whole slices; postcard's own flavour pushes bytes one by one.
struct Appended(Vec<u8>);

impl Flavor for Appended {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, buffer: Vec<u8>) -> Vec<u8> {
    postcard::serialize_with_flavor(value, Appended(buffer))
        .expect("rows are serialisable and memory grows")
}

/// `None` unless all bytes are used up by one value.
pub(super) fn read<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}
