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
//! **Invariant:** the engine reads no clock. Each call brings `now`; it is cut to the year 2200 and raised
//! to the time of the log, which never runs backwards but by [`Engine::repair_clock`].

use crate::accept;
use crate::backoff::Random;
use crate::blob::Blob;
use crate::change::{Body, CommitId, Entry, Hash, LogId, Rows};
use crate::check::{self, Report};
use crate::codec::{self, EntryWriter, Sealed};
use crate::error::{Error, Outcome};
use crate::id::{Instant, Slot, TaskId, Token, Version};
use crate::limits::{COMMAND_BYTES_MAX, NOW_MAX, PAYLOAD_BYTES_DEFAULT};
use crate::name::{Name, NameRef};
use crate::ops::{self, read::View};
use crate::rights::Caller;
use crate::staged::{Savepoint, Staged};
use crate::state::State;
use crate::txn::Txn;
use slab::Slab;
use std::sync::Arc;

/// When and for whom an operation runs. An [`Instant`] alone means the root, which may do everything.
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
}

impl Options {
    /// Seeded by the system.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random(store: NameRef<'_>) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let number = |half: usize| {
            let half = bytes[half..half + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(half)
        };
        let replica = number(8) & crate::id::SAFE_MAX;
        let (store, payload_bytes_max) = (store.to_name(), PAYLOAD_BYTES_DEFAULT);
        Ok(Self { store, seed: number(0), replica, payload_bytes_max })
    }
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
    /// The greatest `now` of the staged commands.
    decided_at: Instant,
    transaction: Option<Savepoint>,
    sealed: Option<Pending>,
    callers: Slab<Caller>,
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
        now.min(NOW_MAX).max(self.state.head.time).max(self.decided_at)
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
        self.require_open()?;
        let now = self.time(context.now);
        self.found_if_empty(now)?;
        self.state.advance(now);
        let began = self.transaction.unwrap_or_else(|| self.staged.savepoint());
        let undo_to = self.staged.savepoint();
        let mut txn = self.txn(Context { now, ..context }, began);
        let answer = operation(&mut txn);
        if !answer.as_ref().is_ok_and(holds) {
            self.staged.undo(undo_to);
        } else if self.transaction.is_none() {
            self.keep(now, undo_to, COMMAND_BYTES_MAX)?;
        }
        answer
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
        }
    }

    /// Ends a command that holds.
    fn keep(&mut self, now: Instant, began: Savepoint, bytes_max: usize) -> Result<(), Error> {
        let before = self.writer.size();
        for change in self.staged.changes_since(began) {
            self.writer.append(change);
        }
        let size = self.writer.size() - before;
        if size > bytes_max {
            self.writer.truncate(before);
            self.staged.undo(began);
            let (size, limit) = (size as u64, bytes_max as u64);
            return Err(Error::LimitExceeded { what: "bytes of one commit", size, limit });
        }
        if size > 0 {
            self.decided_at = now;
        }
        self.staged.keep();
        Ok(())
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

    fn found_if_empty(&mut self, now: Instant) -> Result<(), Error> {
        let is_founded = self.state.head.store.is_some() || self.staged.commands() > 0;
        if is_founded || self.transaction.is_some() {
            return Ok(());
        }
        self.found(now, None)
    }

    fn found(&mut self, now: Instant, rows: Option<Arc<Rows>>) -> Result<(), Error> {
        let began = self.staged.savepoint();
        let store = self.options.store.clone();
        ops::found(&mut self.txn(now.into(), began), store, rows)?;
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
        self.require_open()?;
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

/// The operations. Each is described where it is implemented, in [`crate::ops`].
#[rustfmt::skip]
impl Engine {
    pub fn enqueue(&mut self, at: impl Into<Context>, request: ops::Enqueue<'_>) -> Result<ops::Enqueued, Error> {
        self.command(at, |txn| ops::enqueue(txn, request))
    }

    pub fn enqueue_many(&mut self, at: impl Into<Context>, requests: Vec<ops::Enqueue<'_>>) -> Result<Vec<ops::Enqueued>, Error> {
        self.command(at, |txn| ops::enqueue_many(txn, requests))
    }

    pub fn claim(&mut self, at: impl Into<Context>, request: ops::ClaimRequest<'_>) -> Result<ops::Claimed, Error> {
        self.command(at, |txn| ops::claim(txn, request))
    }

    pub fn complete(&mut self, at: impl Into<Context>, request: ops::Completion<'_>) -> Result<Outcome<ops::Completed>, Error> {
        self.refusable(at, |txn| ops::complete(txn, request))
    }

    pub fn complete_many(&mut self, at: impl Into<Context>, claims: &[ops::ClaimRef<'_>]) -> Result<usize, Error> {
        self.command(at, |txn| ops::complete_many(txn, claims))
    }

    pub fn fail(&mut self, at: impl Into<Context>, request: ops::Failure<'_>) -> Result<Outcome<ops::Failed>, Error> {
        self.refusable(at, |txn| ops::fail(txn, request))
    }

    pub fn heartbeat(&mut self, at: impl Into<Context>, request: ops::Heartbeat<'_>) -> Result<Outcome<Instant>, Error> {
        self.refusable(at, |txn| ops::heartbeat(txn, request))
    }

    pub fn release(&mut self, at: impl Into<Context>, claim: ops::ClaimRef<'_>) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::release(txn, claim))
    }

    pub fn cancel(&mut self, at: impl Into<Context>, queue: NameRef<'_>, id: TaskId, reason: Option<&str>) -> Result<bool, Error> {
        self.command(at, |txn| ops::cancel(txn, queue, id, reason))
    }

    pub fn sweep(&mut self, at: impl Into<Context>, queue: NameRef<'_>) -> Result<ops::Swept, Error> {
        self.command(at, |txn| ops::sweep(txn, queue))
    }

    pub fn redrive(&mut self, at: impl Into<Context>, request: ops::Redrive<'_>) -> Result<usize, Error> {
        self.command(at, |txn| ops::redrive(txn, request))
    }

    pub fn purge(&mut self, at: impl Into<Context>, request: ops::Purge<'_>) -> Result<usize, Error> {
        self.command(at, |txn| ops::purge(txn, request))
    }

    pub fn set_paused(&mut self, at: impl Into<Context>, queue: NameRef<'_>, paused: bool) -> Result<(), Error> {
        self.command(at, |txn| ops::set_paused(txn, queue, paused))
    }

    pub fn acquire(&mut self, at: impl Into<Context>, request: ops::Acquire<'_>) -> Result<Outcome<ops::Acquired>, Error> {
        self.refusable(at, |txn| ops::acquire(txn, request))
    }

    pub fn renew(&mut self, at: impl Into<Context>, request: ops::Renew<'_>) -> Result<Outcome<Instant>, Error> {
        self.refusable(at, |txn| ops::renew(txn, request))
    }

    pub fn release_lease(&mut self, at: impl Into<Context>, name: NameRef<'_>, token: Token) -> Result<bool, Error> {
        self.command(at, |txn| ops::release_lease(txn, name, token))
    }

    pub fn guarded_commit(&mut self, at: impl Into<Context>, name: NameRef<'_>, token: Token, writes: Vec<ops::Write<'_>>) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::guarded_commit(txn, name, token, writes))
    }

    pub fn put_value(&mut self, at: impl Into<Context>, key: NameRef<'_>, value: Blob) -> Result<Version, Error> {
        self.command(at, |txn| ops::put_value(txn, key, value))
    }

    pub fn delete_value(&mut self, at: impl Into<Context>, key: NameRef<'_>) -> Result<bool, Error> {
        self.command(at, |txn| ops::delete_value(txn, key))
    }

    pub fn maintain(&mut self, now: Instant) -> Result<ops::Swept, Error> {
        self.command(now, ops::maintain)
    }

    pub fn require(&mut self, at: impl Into<Context>, guard: ops::Guard<'_>) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::require(txn, guard))
    }
}

/// From commands to the log.
impl Engine {
    /// How many bytes the staged commands weigh so far.
    pub fn staged_bytes(&self) -> usize {
        self.writer.size()
    }

    /// How many staged commands have changed something.
    pub fn staged_commands(&self) -> usize {
        self.staged.commands()
    }

    /// Makes an entry of the staged commands; `None` when they changed nothing. It is to be stored in
    /// the journal behind the newest entry, then merged; or discarded.
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
        let halves = [self.random.draw().to_le_bytes(), self.options.replica.to_le_bytes()];
        halves.concat().try_into().expect("two halves of eight bytes")
    }

    /// The sealed entry is in the journal: makes it true.
    ///
    /// # Panics
    /// When none is sealed.
    pub fn merge_sealed(&mut self) {
        let Pending { entry, hash } = self.sealed.take().expect("an entry is sealed");
        self.state.merge(entry, hash);
        self.discard();
    }

    /// Forgets the sealed entry and everything staged.
    pub fn discard(&mut self) {
        self.sealed = None;
        self.transaction = None;
        self.writer.clear();
        self.staged.clear(self.state.counters);
        self.decided_at = Instant::default();
    }

    /// Catches up with an entry from the journal. What is staged was decided on an older state and must
    /// be discarded before, unless the entry is the sealed one.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`, `LOG_REPLACED`; `INVALID_ARGUMENT` when commands are staged.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.sealed.as_ref().is_some_and(|pending| bytes.ends_with(&pending.hash)) {
            self.merge_sealed();
            return Ok(());
        }
        self.require_open()?;
        if self.staged.commands() > 0 || self.transaction.is_some() {
            return Err(Error::InvalidArgument {
                argument: "engine",
                expected: "discard() of the staged operations before another entry is merged",
                got: format!("{} staged operations", self.staged.commands()),
            });
        }
        let (entry, hash) = codec::decode_entry(bytes)?;
        accept::require_next(&self.state, &entry)?;
        self.state.merge(entry, hash);
        self.discard();
        Ok(())
    }

    /// Whether the sealed commit, or an earlier one of this replica, is in the log that was merged.
    pub fn holds(&self, commit: CommitId) -> bool {
        self.state.replicas.holds(commit)
    }

    /// The id of the sealed entry's commit.
    pub fn sealed_commit(&self) -> Option<CommitId> {
        self.sealed.as_ref().map(|pending| pending.entry.body.commit)
    }

    pub fn snapshot(&self) -> Sealed {
        codec::encode_snapshot(&self.state)
    }

    /// Replaces the whole state by a snapshot of the log. Everything staged is discarded.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; the state stays as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (snapshot, _) = codec::decode_snapshot(bytes)?;
        accept::require_sound(&snapshot)?;
        let mut state = State::default();
        state.put_rows(snapshot.rows);
        (state.head, state.counters) = (snapshot.head, snapshot.counters);
        state.replicas = snapshot.replicas;
        self.state = state;
        self.discard();
        Ok(())
    }

    /// Starts a new log from the snapshot of another one: its rows, tokens and time go on, under a new
    /// log id and this engine's store name.
    ///
    /// # Errors
    /// `JOURNAL_CORRUPT`, `FORMAT_TOO_NEW`; `INVALID_ARGUMENT` when this log is founded already.
    pub fn found_from(&mut self, bytes: &[u8], now: Instant) -> Result<(), Error> {
        if self.state.head.store.is_some() || self.staged.commands() > 0 {
            return Err(Error::InvalidArgument {
                argument: "restore",
                expected: "an empty journal",
                got: "one that holds a store".to_owned(),
            });
        }
        let (snapshot, _) = codec::decode_snapshot(bytes)?;
        accept::require_sound(&snapshot)?;
        self.staged.counters = snapshot.counters;
        let now = now.min(NOW_MAX).max(snapshot.head.time);
        self.found(now, Some(Arc::new(snapshot.rows)))
    }

    /// Brings the log's time back to `now` when it is ahead. Tokens go on rising. Whether it did.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` while something is staged.
    pub fn repair_clock(&mut self, now: Instant) -> Result<bool, Error> {
        self.require_open()?;
        let now = now.min(NOW_MAX);
        if self.state.head.time <= now || self.staged.commands() > 0 {
            return Ok(false);
        }
        let began = self.staged.savepoint();
        ops::repair_clock(&mut self.txn(now.into(), began))?;
        self.keep(now, began, usize::MAX)?;
        Ok(true)
    }

    /// Rebuilds every index from the rows and compares.
    pub fn verify(&self) -> Report {
        check::verify(&self.state)
    }
}
