//! One command's view: staged rows over a borrowed state, at an instant, for a caller.
//!
//! Operations read and write through it and never see which of the two a row came from. The state
//! is borrowed unchanged; what is written lands in [`Staged`].
//!
//! **Invariant:** a command that ends in an error or a refusal leaves nothing staged.

mod weigh;

use crate::backoff::Random;
use crate::blob::Blob;
use crate::change::{Change, KeptKey, Removal};
use crate::error::Error;
use crate::id::{Instant, QueueId, SAFE_MAX, Seq, TaskId, Token, Version};
use crate::index::Order;
use crate::lease::LeaseRow;
use crate::limits::TOKENS_PER_MS;
use crate::name::{Name, NameRef};
use crate::place::Place;
use crate::rights::{Caller, Realm, Right};
use crate::schedule::{Schedule, ScheduleRow};
use crate::staged::{Savepoint, Staged, StagedQueue, StagedValue};
use crate::state::State;
use crate::task::{Task, TaskRow, TaskSpec};
use crate::usage;
use std::ops::Bound;
use std::sync::Arc;

/// What an operation works on.
pub struct Txn<'a> {
    pub now: Instant,
    pub state: &'a State,
    pub staged: &'a mut Staged,
    pub random: &'a mut Random,
    /// `None` is the root, which may do everything.
    pub caller: Option<&'a Caller>,
    /// Where the running command began.
    pub began: Savepoint,
    pub payload_bytes_max: usize,
    pub store_bytes_max: u64,
}

/// Who takes an idempotency key.
#[derive(Clone, Copy, Debug)]
pub enum KeyHolder {
    Task(TaskId),
    Kept(KeptKey),
}

/// Rights.
impl Txn<'_> {
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn require(&self, right: Right, realm: Realm, name: NameRef<'_>) -> Result<(), Error> {
        match self.caller {
            Some(caller) => caller.require(right, realm, name.as_str()),
            None => Ok(()),
        }
    }

    pub fn may(&self, right: Right, realm: Realm, name: NameRef<'_>) -> bool {
        self.caller.is_none_or(|caller| caller.may(right, realm, name.as_str()))
    }

    /// Whether the running command, a transaction perhaps, made the task.
    pub fn has_made(&self, id: TaskId) -> bool {
        id > self.began.last_id() && id <= self.staged.counters.task_id
    }

    /// Whether the running command, a transaction perhaps, completed the task.
    pub fn has_completed(&self, id: TaskId) -> bool {
        let Some(before) = self.staged.task_before(id, self.began) else {
            return false;
        };
        let before = before.unwrap_or_else(|| self.state.task(id));
        before.is_some_and(Task::is_active)
    }

    /// Whether the running command, a transaction perhaps, put or deleted the value.
    pub fn has_written(&self, key: &str) -> bool {
        self.staged.value_before(key, self.began).is_some()
    }
}

/// Tasks.
impl Txn<'_> {
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        match self.staged.task(id) {
            Some(row) => row,
            None => self.state.task(id),
        }
    }

    /// The task, if it is one of `queue` and not past its retention.
    pub fn task_of(&self, queue: NameRef<'_>, id: TaskId) -> Option<&Task> {
        let queue = self.queue_id(queue)?;
        self.task(id).filter(|task| task.queue == queue && task.phase(self.now).is_some())
    }

    pub fn create_task(&mut self, id: TaskId, queue: QueueId, spec: TaskSpec, row: TaskRow) {
        let spec = Arc::new(spec);
        let change = Change::TaskCreated { id, queue, spec: spec.clone(), row: row.clone() };
        let (progress, last_error, result) = (None, None, None);
        let task = Task { id, queue, spec, row, progress, last_error, result };
        self.staged.weigh(usage::task_weight(&task), 0);
        self.staged.put_task(task, change);
    }

    /// The task with another row.
    pub fn put_row(&mut self, task: Task) {
        let change = Change::TaskChanged { id: task.id, row: task.row.clone() };
        self.staged.put_task(task, change);
    }

    pub fn put_progress(&mut self, task: Task) {
        self.weigh_notes(&task);
        let change = Change::TaskProgress { id: task.id, progress: task.progress.clone() };
        self.staged.put_task(task, change);
    }

    /// In a store without room for it the text is cut.
    pub fn put_error(&mut self, mut task: Task) {
        self.cut_error(&mut task);
        self.weigh_notes(&task);
        let change = Change::TaskError { id: task.id, text: task.last_error.clone() };
        self.staged.put_task(task, change);
    }

    pub fn put_result(&mut self, task: Task) {
        self.weigh_notes(&task);
        let change = Change::TaskResult { id: task.id, result: task.result.clone() };
        self.staged.put_task(task, change);
    }

    pub fn remove_task(&mut self, id: TaskId, queue: QueueId, removal: Removal) {
        let weight = self.task(id).map_or(0, usage::task_weight);
        self.staged.weigh(0, weight);
        self.staged.remove_task(id, queue, Change::TaskRemoved { id, removal });
    }

    /// # Errors
    /// `LIMIT_EXCEEDED` when the ids or sequence numbers are used up.
    pub fn take_numbers(&mut self, queue: QueueId) -> Result<(TaskId, Seq), Error> {
        let used_up = |what| Error::LimitExceeded { what, size: SAFE_MAX, limit: SAFE_MAX - 1 };
        let id = self.staged.counters.task_id.next().ok_or(used_up("task ids"))?;
        let staged = self.staged.queue(queue);
        let seq = self.last_seq(queue, staged).next().ok_or(used_up("sequence numbers"))?;
        self.staged.counters.task_id = id;
        self.staged.put_queue(queue, StagedQueue { last_seq: Some(seq), ..staged }, None);
        Ok((id, seq))
    }

    /// Rises strictly without any clock, and follows the clock so that it stays above the tokens of
    /// a log that was lost.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED` when the tokens are used up.
    pub fn take_token(&mut self) -> Result<Token, Error> {
        let clock = Token::saturating(self.now.get() * TOKENS_PER_MS);
        let limit = Error::LimitExceeded { what: "tokens", size: SAFE_MAX, limit: SAFE_MAX - 1 };
        let token = self.staged.counters.token.next().ok_or(limit)?.max(clock);
        self.staged.counters.token = token;
        Ok(token)
    }
}

/// Queues.
impl Txn<'_> {
    pub fn queue_id(&self, name: NameRef<'_>) -> Option<QueueId> {
        self.state.queue_id(name.as_str()).or_else(|| self.staged.queue_id(name.as_str()))
    }

    pub fn queue_or_new(&mut self, name: NameRef<'_>) -> QueueId {
        self.queue_id(name).unwrap_or_else(|| {
            let count = self.state.queues.len() + self.staged.new_queues();
            let queue = QueueId(u32::try_from(count).expect("fewer queues than 2^32"));
            let name = name.to_name();
            let change = Change::QueueCreated { queue, name: name.clone() };
            self.staged.weigh(usage::queue_weight(&name), 0);
            self.staged.name_queue(name, queue, change);
            queue
        })
    }

    pub fn is_paused(&self, queue: QueueId) -> bool {
        let paused = self.state.queues.get(queue.0 as usize).is_some_and(|queue| queue.paused);
        self.staged.queue(queue).paused.unwrap_or(paused)
    }

    pub fn set_paused(&mut self, queue: QueueId, paused: bool) {
        let staged = StagedQueue { paused: Some(paused), ..self.staged.queue(queue) };
        self.staged.put_queue(queue, staged, Some(Change::QueuePaused { queue, paused }));
    }

    fn last_seq(&self, queue: QueueId, staged: StagedQueue) -> Seq {
        let merged = self.state.queues.get(queue.0 as usize).map(|queue| queue.last_seq);
        staged.last_seq.or(merged).unwrap_or_default()
    }
}

/// Ordered reads over the state and what is staged on it.
impl Txn<'_> {
    /// The first `max` tasks of an index of `queue` from a place on.
    ///
    /// **Cost:** O(log n + max), and a step for each row in between that is staged already.
    pub fn first(
        &mut self,
        order: Order,
        queue: QueueId,
        start: Bound<Place>,
        max: usize,
    ) -> Vec<(Place, TaskId)> {
        self.staged.index_at(self.now);
        self.merged_first(order, queue, [start, start], max)
    }

    /// The first `max` tasks that a claim serves now.
    ///
    /// **Cost:** O(log n + max): the claims of one entry do not walk over each other's rows again,
    /// as far as [`Staged::raise_ready_floor`] was told of them.
    pub fn first_ready(&mut self, queue: QueueId, max: usize) -> Vec<(Place, TaskId)> {
        self.staged.index_at(self.now);
        let floor = self.staged.ready_floor(queue).map_or(Bound::Unbounded, Bound::Excluded);
        self.merged_first(Order::Ready, queue, [floor, Bound::Unbounded], max)
    }

    /// Rows of the state that are not staged, and staged ones, each from its own start.
    fn merged_first(
        &self,
        order: Order,
        queue: QueueId,
        [start_merged, start_fresh]: [Bound<Place>; 2],
        max: usize,
    ) -> Vec<(Place, TaskId)> {
        let (state, staged) = (self.state, &*self.staged);
        let mut merged =
            state.queues.get(queue.0 as usize).map(|queue| queue.tasks.rows(order, start_merged));
        let mut fresh = staged.index(queue).map(|index| index.rows(order, start_fresh));
        let mut next_merged = || {
            let unstaged = |(_, id): &(&Place, &TaskId)| staged.task(**id).is_none();
            merged.as_mut()?.find(unstaged)
        };
        let mut next_fresh = || fresh.as_mut()?.next();
        let mut found = Vec::new();
        let (mut one, mut other) = (None, None);
        while found.len() < max {
            one = one.or_else(&mut next_merged);
            other = other.or_else(&mut next_fresh);
            let fresh_is_first = other.is_some() && (one.is_none() || other < one);
            let first = if fresh_is_first { other.take() } else { one.take() };
            let Some((place, id)) = first else { break };
            found.push((*place, *id));
        }
        found
    }

    pub fn key_holder(&mut self, queue: QueueId, key: &str) -> Option<KeyHolder> {
        self.staged.index_at(self.now);
        let fresh = self.staged.index(queue).and_then(|index| index.key_holder(key));
        let rows = self.state.queues.get(queue.0 as usize);
        let merged = rows
            .and_then(|rows| rows.tasks.key_holder(key))
            .filter(|id| self.staged.task(*id).is_none());
        if let Some(id) = fresh.or(merged) {
            return Some(KeyHolder::Task(id));
        }
        self.kept_key(queue, key).map(KeyHolder::Kept)
    }

    pub fn keep_key(&mut self, queue: QueueId, key: Name, kept: KeptKey) {
        if self.kept_key(queue, key.as_str()).is_none() {
            self.staged.weigh(usage::key_weight(&key), 0);
        }
        let change = Change::KeyKept { queue, key: key.clone(), kept };
        self.staged.put_kept_key(queue, key, Some(kept), change);
    }

    pub fn free_key(&mut self, queue: QueueId, key: Name) {
        if self.kept_key(queue, key.as_str()).is_some() {
            self.staged.weigh(0, usage::key_weight(&key));
        }
        let change = Change::KeyFreed { queue, key: key.clone() };
        self.staged.put_kept_key(queue, key, None, change);
    }
}

/// Leases.
impl Txn<'_> {
    /// The record, unless nobody held it for so long that it counts as removed.
    pub fn lease(&self, name: NameRef<'_>) -> Option<&LeaseRow> {
        let row = match self.staged.lease(name.as_str()) {
            Some(row) => row,
            None => self.state.leases.get(name.as_str()),
        };
        row.filter(|row| row.gone_at() > self.now)
    }

    pub fn put_lease(&mut self, name: Name, row: LeaseRow) {
        self.staged.weigh(usage::lease_weight(&name, &row), self.lease_weight(&name));
        let change = Change::LeasePut { name: name.clone(), row: row.clone() };
        self.staged.put_lease(name, Some(row), change);
    }

    pub fn remove_lease(&mut self, name: Name) {
        self.staged.weigh(0, self.lease_weight(&name));
        let change = Change::LeaseRemoved { name: name.clone() };
        self.staged.put_lease(name, None, change);
    }
}

/// Schedules.
impl Txn<'_> {
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        match self.staged.schedule(name) {
            Some(row) => row,
            None => self.state.timetable.get(name),
        }
    }

    pub fn schedule_count(&self) -> usize {
        let merged = self.state.timetable.rows();
        let (mut added, mut removed) = (0, 0);
        for (name, row) in self.staged.schedules() {
            let was_there = merged.contains_key(name.as_str());
            added += usize::from(row.is_some() && !was_there);
            removed += usize::from(row.is_none() && was_there);
        }
        merged.len() + added - removed
    }

    pub fn put_schedule(&mut self, name: Name, schedule: Schedule) {
        self.staged.weigh(usage::schedule_weight(&name, &schedule), self.schedule_weight(&name));
        let Schedule { spec, row } = schedule.clone();
        let change = Change::SchedulePut { name: name.clone(), spec, row };
        self.staged.put_schedule(name, Some(schedule), change);
    }

    pub fn move_schedule(&mut self, name: Name, schedule: &Schedule, row: ScheduleRow) {
        let change = Change::ScheduleMoved { name: name.clone(), row: row.clone() };
        let moved = Schedule { row, spec: schedule.spec.clone() };
        self.staged.put_schedule(name, Some(moved), change);
    }

    pub fn remove_schedule(&mut self, name: Name) {
        self.staged.weigh(0, self.schedule_weight(&name));
        let change = Change::ScheduleRemoved { name: name.clone() };
        self.staged.put_schedule(name, None, change);
    }
}

/// Values.
impl Txn<'_> {
    /// The version the running command will take.
    pub fn own_version(&self) -> Version {
        let before = self.state.head.version.get() + self.staged.commands() as u64;
        Version::saturating(before + 1)
    }

    /// As this command sees it.
    pub fn value(&self, key: &str) -> Option<(&Blob, Version)> {
        match self.staged.value(key) {
            Some(staged) => staged.value.as_ref().map(|value| (value, staged.version)),
            None => self.state.values.get(key).map(|row| (&row.value, row.version)),
        }
    }

    /// As it was before this command: what checks compare with.
    pub fn version_before(&self, key: &str) -> Option<Version> {
        let staged = match self.staged.value_before(key, self.began) {
            Some(before) => before,
            None => self.staged.value(key),
        };
        match staged {
            Some(staged) => staged.value.as_ref().map(|_| staged.version),
            None => self.state.values.get(key).map(|row| row.version),
        }
    }

    pub fn put_value(&mut self, key: Name, value: Blob) {
        self.staged.weigh(usage::value_weight(&key, &value), self.value_weight(&key));
        let change = Change::ValuePut { key: key.clone(), value: value.clone() };
        let row = StagedValue { value: Some(value), version: self.own_version() };
        self.staged.put_value(key, row, change);
    }

    /// Whether there was one.
    pub fn delete_value(&mut self, key: Name) -> bool {
        if self.value(key.as_str()).is_none() {
            return false;
        }
        self.staged.weigh(0, self.value_weight(&key));
        let change = Change::ValueDeleted { key: key.clone() };
        let row = StagedValue { value: None, version: self.own_version() };
        self.staged.put_value(key, row, change);
        true
    }
}
