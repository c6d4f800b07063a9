//! The engine: decide, seal, merge or discard.
//!
//! ```text
//!  operation … operation ──seal──> bytes ──(the journal stores them)──> merge
//!   └ decided on the state and what is staged         └──(it refuses)──> discard, decide again
//! ```
//!
//! Operations stage rows and answer at once; nothing is true until [`Engine::merge`]. Between
//! [`Engine::seal`] and merge or discard no operation is taken: one proposal at a time.
//!
//! **Invariant:** the engine reads no clock. Each call brings `now`; it is cut to the year 2200 and
//! raised to the time of the log, which never runs backwards but by [`Engine::repair_clock`].

mod events;
mod log;
mod operations;
mod snapshots;

pub use snapshots::SnapshotId;

use crate::accept;
use crate::backoff::Random;
use crate::change::{Entry, Hash};
use crate::codec::EntryWriter;
use crate::copying::Copying;
use crate::error::{Error, Outcome};
use crate::event::Recorder;
use crate::id::Instant;
use crate::limits::{COMMAND_BYTES_MAX, NOW_MAX};
use crate::name::Name;
use crate::ops::{self, read::View};
use crate::restoring::Restoring;
use crate::rights::Caller;
use crate::staged::{Savepoint, Staged};
use crate::state::State;
use crate::touched::Touched;
use crate::txn::Txn;
use slab::Slab;

/// When and for whom an operation runs. An [`Instant`] alone means the root, which may do
/// everything.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub now: Instant,
    pub caller: Option<CallerId>,
}

/// A caller known to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerId(pub u32);

impl From<Instant> for Context {
    fn from(now: Instant) -> Self {
        Self { now, caller: None }
    }
}

/// How an engine starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store's name, for a log that is founded here.
    pub store: Name,
    /// Of the generator behind jitter and log ids.
    pub seed: u64,
    /// Unique among the open replicas of a log; below 2^53.
    pub replica: u64,
    pub payload_bytes_max: usize,
    /// What the rows may weigh: see `usage.rs`. Default [`crate::limits::STORE_BYTES_MAX`].
    pub store_bytes_max: u64,
}

/// A replica of a store, without its journal.
#[derive(Debug)]
pub struct Engine {
    state: State,
    staged: Staged,
    writer: EntryWriter,
    random: Random,
    options: Options,
    /// The last commit that this replica sealed.
    commit_counter: u64,
    /// The time of the log as the staged commands leave it.
    decided_at: Instant,
    transaction: Option<Savepoint>,
    sealed: Option<Pending>,
    callers: Slab<Caller>,
    /// While somebody listens.
    recorder: Option<Recorder>,
    touched: Touched,
    /// A snapshot that is being written, and one that is being read.
    copying: Option<Copying>,
    restoring: Option<Box<Restoring>>,
    snapshots_begun: u64,
}

/// An entry that waits for its journal.
#[derive(Debug)]
struct Pending {
    entry: Entry,
    hash: Hash,
}

impl Engine {
    pub fn new(options: Options) -> Self {
        Self {
            state: State::default(),
            staged: Staged::default(),
            writer: EntryWriter::default(),
            random: Random::seeded(options.seed),
            options,
            commit_counter: 0,
            decided_at: Instant::default(),
            transaction: None,
            sealed: None,
            callers: Slab::new(),
            recorder: None,
            touched: Touched::default(),
            copying: None,
            restoring: None,
            snapshots_begun: 0,
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What the state shows at `context.now` to its caller.
    pub fn view(&mut self, context: impl Into<Context>) -> View<'_> {
        let context = context.into();
        let now = self.time(context.now);
        self.state.advance(now);
        let caller = context.caller.map(|id| &self.callers[id.0 as usize]);
        View { state: &self.state, now, caller }
    }

    /// The time that an operation at `now` gets.
    pub fn time(&self, now: Instant) -> Instant {
        now.min(NOW_MAX).max(self.decided_at)
    }

    pub fn add_caller(&mut self, caller: Caller) -> CallerId {
        CallerId(u32::try_from(self.callers.insert(caller)).expect("fewer callers than 2^32"))
    }

    pub fn remove_caller(&mut self, id: CallerId) {
        self.callers.try_remove(id.0 as usize);
    }
}

/// Deciding.
impl Engine {
    fn run<T>(
        &mut self,
        context: Context,
        operation: impl FnOnce(&mut Txn<'_>) -> Result<T, Error>,
        holds: impl FnOnce(&T) -> bool,
    ) -> Result<T, Error> {
        let (now, undo_to) = self.begin(context.now)?;
        let began = self.transaction.unwrap_or(undo_to);
        let answer = operation(&mut self.txn(Context { now, ..context }, began));
        self.end(now, undo_to, answer.as_ref().is_ok_and(holds))?;
        answer
    }

    /// What is the same for all commands is compiled once.
    fn begin(&mut self, now: Instant) -> Result<(Instant, Savepoint), Error> {
        let now = self.time(now);
        self.found_if_empty(now)?;
        self.state.advance(now);
        Ok((now, self.staged.savepoint()))
    }

    fn end(&mut self, now: Instant, undo_to: Savepoint, holds: bool) -> Result<(), Error> {
        if !holds {
            self.staged.undo(undo_to);
        } else if self.transaction.is_none() {
            self.keep(now, undo_to, COMMAND_BYTES_MAX)?;
        }
        Ok(())
    }

    fn txn(&mut self, context: Context, began: Savepoint) -> Txn<'_> {
        Txn {
            now: context.now,
            state: &self.state,
            staged: &mut self.staged,
            random: &mut self.random,
            caller: context.caller.map(|id| &self.callers[id.0 as usize]),
            began,
            payload_bytes_max: self.options.payload_bytes_max,
            store_bytes_max: self.options.store_bytes_max,
        }
    }

    /// Ends a command that holds.
    fn keep(&mut self, now: Instant, began: Savepoint, bytes_max: usize) -> Result<(), Error> {
        let before = self.writer.size();
        for change in self.staged.changes_since(began) {
            self.writer.append(change);
        }
        let size = self.writer.size() - before;
        let refusal = if size > bytes_max {
            let (size, limit) = (size as u64, bytes_max as u64);
            Err(Error::LimitExceeded { what: "bytes of one commit", size, limit })
        } else {
            self.require_room(began)
        };
        if refusal.is_err() {
            self.writer.truncate(before);
            self.staged.undo(began);
            return refusal;
        }
        if size > 0 {
            self.decided_at = now;
        }
        self.staged.keep();
        Ok(())
    }

    /// A command may not leave the store larger than its limit, unless it makes it no larger.
    fn require_room(&self, began: Savepoint) -> Result<(), Error> {
        let limit = self.options.store_bytes_max;
        let size = self.state.usage.bytes().saturating_add_signed(self.staged.weight());
        match self.staged.weight_since(began) > 0 && size > limit {
            true => Err(Error::StoreFull { size, limit }),
            false => Ok(()),
        }
    }

    fn command<T>(
        &mut self,
        context: impl Into<Context>,
        operation: impl FnOnce(&mut Txn<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.run(context.into(), operation, |_| true)
    }

    fn refusable<T>(
        &mut self,
        context: impl Into<Context>,
        operation: impl FnOnce(&mut Txn<'_>) -> Result<Outcome<T>, Error>,
    ) -> Result<Outcome<T>, Error> {
        self.run(context.into(), operation, Result::is_ok)
    }

    fn require_open(&self) -> Result<(), Error> {
        match self.sealed {
            None => Ok(()),
            Some(_) => Err(Error::InvalidArgument {
                argument: "engine",
                expected: "merge() or discard() of the entry that was taken",
                got: "another operation".to_owned(),
            }),
        }
    }

    /// The first command of an empty log; does nothing on any other.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` while an entry is sealed; `JOURNAL_CORRUPT` while the log waits for the
    /// snapshot that it is founded on: an operation would not see its rows.
    pub fn found_if_empty(&mut self, now: Instant) -> Result<(), Error> {
        self.require_open()?;
        if self.state.head.is_restoring || self.staged.founds_restoring() {
            return Err(accept::unfinished());
        }
        let is_founded = self.state.head.store.is_some() || self.staged.commands() > 0;
        if is_founded || self.transaction.is_some() {
            return Ok(());
        }
        let began = self.staged.savepoint();
        let store = self.options.store.clone();
        ops::found(&mut self.txn(now.into(), began), store);
        self.keep(now, began, usize::MAX)
    }
}

/// Transactions: several operations as one command.
impl Engine {
    /// From here on operations belong to one command, until [`Engine::commit_transaction`] or
    /// [`Engine::abort_transaction`]. A refused one undoes itself only.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` while an entry is sealed.
    pub fn begin_transaction(&mut self, now: Instant) -> Result<Instant, Error> {
        assert!(self.transaction.is_none(), "a transaction does not begin inside another");
        let now = self.time(now);
        self.found_if_empty(now)?;
        self.state.advance(now);
        self.transaction = Some(self.staged.savepoint());
        Ok(now)
    }

    /// # Errors
    /// `LIMIT_EXCEEDED` when it wrote too much.
    pub fn commit_transaction(&mut self, now: Instant) -> Result<(), Error> {
        let began = self.transaction.take().expect("a transaction was begun");
        self.keep(self.time(now), began, COMMAND_BYTES_MAX)
    }

    pub fn abort_transaction(&mut self) {
        if let Some(began) = self.transaction.take() {
            self.staged.undo(began);
        }
    }

    /// A read that sees what the running transaction wrote.
    pub fn peek<T>(
        &mut self,
        context: impl Into<Context>,
        read: impl FnOnce(&Txn<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.command(context, |txn| read(txn))
    }
}
