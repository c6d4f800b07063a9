//! An entry as bytes. Changes are written as their commands end, so that the size of the entry is
//! known before it is sealed.

use super::envelope::{Content, Envelope, FORMAT_FIRST, FORMAT_PARTS, Sealed, begin, open, seal};
use super::reader::read;
use super::wire::{Wire, put_number};
use crate::change::{Body, Change, Entry, Hash};
use crate::error::Error;
use crate::limits::ROOM_BYTES_KEPT;

/// Collects the changes of an entry.
#[derive(Debug, Default)]
pub struct EntryWriter {
    changes: Vec<u8>,
}

/// Of a body without its command ends and changes: six numbers and a length.
const BODY_HEAD_BYTES: usize = 6 * 10 + 5;
/// Of the place where a command ends.
const END_BYTES: usize = 5;

impl EntryWriter {
    pub fn append(&mut self, change: &Change) {
        change.put(&mut self.changes);
    }

    /// The bytes of the changes so far.
    pub fn size(&self) -> usize {
        self.changes.len()
    }

    pub fn truncate(&mut self, bytes: usize) {
        self.changes.truncate(bytes);
    }

    /// Room for the largest of commands is not kept.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.changes.shrink_to(ROOM_BYTES_KEPT);
    }

    /// The whole entry; `entry.body.changes` are those appended.
    pub fn finish(&mut self, entry: &Entry) -> Sealed {
        let Entry { log_id, slot, previous, body } = entry;
        let envelope = Envelope { log_id: *log_id, slot: *slot, previous: *previous };
        let Body { commit, time, counters, command_ends, changes } = body;
        let head_bytes = BODY_HEAD_BYTES + END_BYTES * command_ends.len();
        let format = match changes.first() {
            Some(Change::Restoring { .. }) => FORMAT_PARTS,
            _ => FORMAT_FIRST,
        };
        let size = head_bytes + self.changes.len();
        let mut bytes = begin(Content::Entry, format, envelope, size);
        commit.put(&mut bytes);
        time.put(&mut bytes);
        counters.put(&mut bytes);
        command_ends.put(&mut bytes);
        put_number(&mut bytes, changes.len() as u64);
        bytes.extend_from_slice(&self.changes);
        self.clear();
        seal(bytes)
    }
}

/// # Errors
/// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
pub fn decode_entry(bytes: &[u8]) -> Result<(Entry, Hash), Error> {
    let (Envelope { log_id, slot, previous }, body, hash) = open(Content::Entry, bytes)?;
    let body = read(body, Body::take).ok_or_else(|| Error::corrupt("entry body does not parse"))?;
    Ok((Entry { log_id, slot, previous, body }, hash))
}
