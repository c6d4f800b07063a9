//! Snapshots: written and read in parts, and a log that goes on from one.

use super::Engine;
use crate::change::Change;
use crate::codec::{self, Sealed};
use crate::copying::Copying;
use crate::error::Error;
use crate::id::{Instant, Slot, Version};
use crate::limits::PART_BYTES;
use crate::ops;
use crate::replicas::Replicas;
use crate::restoring::Restoring;
use crate::state::State;

/// A snapshot that is being written, of those that this engine has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotId(pub u64);

impl Engine {
    /// All rows as of now, in parts: entries may be merged between them. Takes the place of one
    /// that was begun before. A part ends with the row that makes it `part_bytes` long.
    pub fn begin_snapshot(&mut self, part_bytes: usize) -> (SnapshotId, Slot) {
        self.snapshots_begun += 1;
        self.copying = Some(Copying::of(&self.state, part_bytes));
        (SnapshotId(self.snapshots_begun), self.state.head.slot)
    }

    /// `None` behind the last part, when nothing of it is kept any more.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` when it is not the one that was begun last, or has ended.
    pub fn snapshot_part(&mut self, id: SnapshotId) -> Result<Option<Sealed>, Error> {
        let copying = self.copying.as_mut().filter(|_| id.0 == self.snapshots_begun);
        let Some(copying) = copying else {
            let expected = "a snapshot that goes on";
            let got = "one that has ended, or was outrun by another".to_owned();
            return Err(Error::InvalidArgument { argument: "snapshot", expected, got });
        };
        let part = copying.next_part(&self.state);
        if part.is_none() {
            self.copying = None;
        }
        Ok(part)
    }

    /// Whether the last part has been given.
    pub fn snapshot_is_over(&self) -> bool {
        self.copying.as_ref().is_none_or(Copying::is_over)
    }

    /// Nobody wants the rest of it.
    pub fn end_snapshot(&mut self, id: SnapshotId) {
        if id.0 == self.snapshots_begun {
            self.copying = None;
        }
    }

    /// All parts, one after the other; the hash is that of the last.
    pub fn snapshot(&self) -> Sealed {
        self.snapshot_in_parts_of(PART_BYTES)
    }

    pub fn snapshot_in_parts_of(&self, part_bytes: usize) -> Sealed {
        let mut copying = Copying::of(&self.state, part_bytes);
        let mut all = Sealed { bytes: Vec::new(), hash: self.state.head.hash };
        while let Some(part) = copying.next_part(&self.state) {
            all.bytes.extend_from_slice(&part.bytes);
            all.hash = part.hash;
        }
        all
    }

    /// A snapshot of the log is to come, in pieces. Forgets those of one that has not ended.
    pub fn begin_restore(&mut self) {
        // A store of a build without the limit may be beyond it, and is opened if it can be.
        let bytes_max = self.options.store_bytes_max.saturating_mul(3) / 2;
        self.restoring = Some(Box::new(Restoring::new(bytes_max)));
    }

    /// The next bytes, however they were cut.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; the state stays as it was. `INVALID_ARGUMENT` when none
    /// was begun.
    pub fn restore_part(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut restoring = self.take_restoring()?;
        restoring.take(bytes)?;
        self.restoring = Some(restoring);
        Ok(())
    }

    /// Replaces the whole state by the snapshot that has come. Everything staged is discarded.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; the state stays as it was. `INVALID_ARGUMENT` when none
    /// was begun.
    pub fn finish_restore(&mut self) -> Result<(), Error> {
        let state = self.take_restoring()?.finish()?;
        self.replace(state);
        Ok(())
    }

    fn take_restoring(&mut self) -> Result<Box<Restoring>, Error> {
        let (expected, got) = ("a snapshot that was begun", "none".to_owned());
        self.restoring.take().ok_or(Error::InvalidArgument { argument: "restore", expected, got })
    }

    /// Replaces the whole state by a snapshot of the log. Everything staged is discarded.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; the state stays as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.begin_restore();
        self.restore_part(bytes)?;
        self.finish_restore()
    }

    fn replace(&mut self, state: State) {
        self.state = state;
        self.copying = None;
        self.note_restored();
        self.discard();
    }

    /// Founds a log whose rows are those of a snapshot: with the first entry, behind which the
    /// snapshot is to be put. See [`Engine::adopt`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` when this log is founded already.
    pub fn found_restoring(&mut self, now: Instant) -> Result<(), Error> {
        self.require_open()?;
        if self.state.head.store.is_some() || self.staged.commands() > 0 {
            return Err(not_empty());
        }
        let (now, store) = (self.time(now), self.options.store.clone());
        let began = self.staged.savepoint();
        ops::found_restoring(&mut self.txn(now.into(), began), store);
        self.keep(now, began, usize::MAX)
    }

    /// Makes what was restored, the rows of another log, those of the log that this entry founded.
    /// Tokens, versions and time go on from those of the rows.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; `INVALID_ARGUMENT` when the entry founds no such log.
    pub fn adopt(&mut self, entry: &[u8]) -> Result<(), Error> {
        let (entry, hash) = codec::decode_entry(entry)?;
        let [Change::Restoring { store }] = entry.body.changes.as_slice() else {
            return Err(not_empty());
        };
        let head = &mut self.state.head;
        (head.log_id, head.slot, head.hash) = (entry.log_id, entry.slot, hash);
        head.store = Some(store.clone());
        head.time = head.time.max(entry.body.time);
        head.version = Version::saturating(head.version.get() + 1);
        let counters = &mut self.state.counters;
        counters.token = counters.token.max(entry.body.counters.token);
        let mut replicas = Replicas::default();
        replicas.record(entry.body.commit, entry.slot);
        self.state.replicas = replicas;
        self.discard();
        Ok(())
    }

    /// Whether the log waits for the snapshot that it is founded on.
    pub fn is_restoring(&self) -> bool {
        self.state.head.is_restoring
    }
}

fn not_empty() -> Error {
    Error::InvalidArgument {
        argument: "restore",
        expected: "an empty journal",
        got: "one that holds a store".to_owned(),
    }
}
