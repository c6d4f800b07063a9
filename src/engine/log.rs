//! From commands to the log, and from the log to rows.

use super::{Engine, Pending};
use crate::accept;
use crate::change::{Body, CommitId, Entry, Hash, LogId};
use crate::check::{self, Report};
use crate::codec::{self, Sealed};
use crate::copying;
use crate::error::Error;
use crate::id::{Instant, Slot};
use crate::limits::{GROUP_BYTES_MAX, NOW_MAX};
use crate::ops;
use crate::table::Table;

impl Engine {
    /// How many bytes the staged commands weigh so far.
    pub fn staged_bytes(&self) -> usize {
        self.writer.size()
    }

    /// How many staged commands have changed something.
    pub fn staged_commands(&self) -> usize {
        self.staged.commands()
    }

    /// Whether no further command should go into the entry. Nothing follows on a repair of the
    /// clock: whoever decides it still has the time from before, and would undo the repair.
    pub fn group_is_full(&self) -> bool {
        self.staged_bytes() >= GROUP_BYTES_MAX || self.staged.repairs_clock()
    }

    /// Makes an entry of the staged commands; `None` when they changed nothing. It is to be stored
    /// in the journal behind the newest entry, then merged; or discarded.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` while another entry is sealed.
    pub fn seal(&mut self) -> Result<Option<Sealed>, Error> {
        self.require_open()?;
        assert!(self.transaction.is_none(), "a transaction ends before its entry is made");
        if self.staged.commands() == 0 {
            return Ok(None);
        }
        let counters = self.staged.counters;
        let (changes, command_ends) = self.staged.take_changes();
        let replica = self.options.replica;
        let counter = self.commit_counter.max(self.state.replicas.last_of(replica)) + 1;
        self.commit_counter = counter;
        let commit = CommitId { replica, counter };
        let time = self.decided_at;
        let entry = Entry {
            log_id: if self.state.head.store.is_some() {
                self.state.head.log_id
            } else {
                self.draw_log_id()
            },
            slot: Slot::saturating(self.state.head.slot.get() + 1),
            previous: self.state.head.hash,
            body: Body { commit, time, counters, command_ends, changes },
        };
        let sealed = self.writer.finish(&entry);
        self.sealed = Some(Pending { entry, hash: sealed.hash });
        Ok(Some(sealed))
    }

    fn draw_log_id(&mut self) -> LogId {
        let (low, high) = (self.random.draw(), self.options.replica);
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }

    /// The sealed entry is in the journal: makes it true.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` when none is sealed.
    pub fn merge_sealed(&mut self) -> Result<(), Error> {
        let Some(Pending { mut entry, hash }) = self.sealed.take() else {
            return Err(Error::InvalidArgument {
                argument: "engine",
                expected: "an entry that was taken and not yet merged",
                got: "none".to_owned(),
            });
        };
        self.merge_recording(&mut entry, hash);
        self.discard();
        self.staged.reuse(entry.body.changes, entry.body.command_ends);
        Ok(())
    }

    /// Forgets the sealed entry and everything staged.
    pub fn discard(&mut self) {
        self.sealed = None;
        self.transaction = None;
        self.writer.clear();
        self.staged.clear(self.state.counters);
        self.decided_at = self.state.head.time;
    }

    /// Catches up with an entry from the journal. What is staged was decided on an older state and
    /// must be discarded before, unless the entry is the sealed one.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`, `LOG_REPLACED`; `INVALID_ARGUMENT` when commands are
    /// staged.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (mut entry, hash) = codec::decode_entry(bytes)?;
        if self.sealed.as_ref().is_some_and(|pending| pending.hash == hash) {
            return self.merge_sealed();
        }
        self.require_open()?;
        self.require_unstaged("discard() of the staged operations before another entry is merged")?;
        accept::require_next(&self.state, &entry)?;
        self.merge_recording(&mut entry, hash);
        self.discard();
        Ok(())
    }

    fn require_unstaged(&self, expected: &'static str) -> Result<(), Error> {
        if self.staged.commands() == 0 && self.transaction.is_none() {
            return Ok(());
        }
        let got = format!("{} staged operations", self.staged.commands());
        Err(Error::InvalidArgument { argument: "engine", expected, got })
    }

    /// Whether the sealed commit, or an earlier one of this replica, is in the log that was merged.
    pub fn holds(&self, commit: CommitId) -> bool {
        self.state.replicas.holds(commit)
    }

    /// Log id and hash of the sealed entry: what a journal calls its tag.
    pub fn sealed_tag(&self) -> Option<[u8; 32]> {
        let pending = self.sealed.as_ref()?;
        let mut tag = [0; 32];
        tag[..16].copy_from_slice(&pending.entry.log_id);
        tag[16..].copy_from_slice(&pending.hash);
        Some(tag)
    }

    /// A hash over all rows: replicas at one version have the same.
    pub fn rows_hash(&self) -> Hash {
        copying::rows_hash(&self.state)
    }

    /// The id of the sealed entry's commit.
    pub fn sealed_commit(&self) -> Option<CommitId> {
        self.sealed.as_ref().map(|pending| pending.entry.body.commit)
    }

    /// Brings the log's time back to `now` when it is ahead. Tokens go on rising. Whether it did.
    ///
    /// `crons`: the first boundaries after `now` of the schedules whose grid the host works out;
    /// one that is not named keeps its own.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` while something is staged.
    pub fn repair_clock(&mut self, now: Instant, crons: &Table<Instant>) -> Result<bool, Error> {
        self.require_open()?;
        let now = now.min(NOW_MAX);
        self.require_unstaged("discard() of the staged operations before the clock is repaired")?;
        if self.state.head.time <= now {
            return Ok(false);
        }
        let began = self.staged.savepoint();
        ops::repair_clock(&mut self.txn(now.into(), began), crons)?;
        self.keep(now, began, usize::MAX)?;
        Ok(true)
    }

    /// Rebuilds every index from the rows and compares.
    pub fn verify(&self) -> Report {
        check::verify(&self.state)
    }
}
