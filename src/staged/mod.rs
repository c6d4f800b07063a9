//! What the commands of one undecided entry have written: rows over the state, and the way back.
//!
//! Each write is kept three times: as the row that later commands of the same entry read, as the
//! change that the entry will carry, and as the step that undoes it. A command ends with
//! [`Staged::keep`] or with [`Staged::undo`] to its [`Savepoint`]; a refused one takes nothing else
//! with it.
//!
//! **Cost:** a command pays for its own rows. The ordered indexes over staged rows are made only
//! when a later command of the same entry asks for them.

mod queue;
mod savepoint;
mod since;
mod tasks;

use crate::blob::Blob;
use crate::change::{Change, Counters, KeptKey};
use crate::id::{Instant, QueueId, TaskId, Version};
use crate::index::{Places, TaskIndex};
use crate::lease::LeaseRow;
use crate::limits::ROOM_BYTES_KEPT;
use crate::name::Name;
use crate::place::Place;
use crate::schedule::Schedule;
use crate::table::Table;
use crate::task::Task;
use queue::QueueRows;
use std::cmp::Ordering;
use std::ops::Bound;
use tasks::{StagedTask, StagedTasks};

pub use queue::StagedQueue;
pub use savepoint::Savepoint;

/// `None`: the row was removed.
pub type Row<T> = Option<T>;

/// The rows of an entry that is not decided yet.
#[derive(Debug, Default)]
pub struct Staged {
    pub counters: Counters,
    tasks: StagedTasks,
    pub(crate) leases: Table<Row<LeaseRow>>,
    values: Table<StagedValue>,
    schedules: Table<Row<Schedule>>,
    /// By queue id. They keep their room from entry to entry.
    queues: Vec<QueueRows>,
    /// The queues with something staged.
    touched: Vec<QueueId>,
    queue_names: Table<QueueId>,
    changes: Vec<Change>,
    command_ends: Vec<u32>,
    undo: Vec<Undo>,
    unindexed: Vec<u32>,
    indexed_at: Instant,
    /// What the store has grown by.
    weight: i64,
}

/// A key-value row as this entry leaves it so far.
#[derive(Clone, Debug)]
pub struct StagedValue {
    pub value: Row<Blob>,
    /// Of the command that wrote it.
    pub version: Version,
}

#[derive(Debug)]
enum Undo {
    Task(u32, Option<Box<StagedTask>>),
    KeptKey(QueueId, Name, Option<Row<KeptKey>>),
    Lease(Name, Option<Row<LeaseRow>>),
    Value(Name, Option<StagedValue>),
    Schedule(Name, Option<Row<Schedule>>),
    Queue(QueueId, StagedQueue),
    QueueName(Name),
}

/// Writing. Each takes the change along.
impl Staged {
    pub fn put_task(&mut self, task: Task, change: Change) {
        let (id, queue) = (task.id, task.queue);
        self.write_task(StagedTask { id, queue, row: Some(task), indexed: false });
        self.changes.push(change);
    }

    pub fn remove_task(&mut self, id: TaskId, queue: QueueId, change: Change) {
        self.write_task(StagedTask { id, queue, row: None, indexed: false });
        self.changes.push(change);
    }

    pub fn put_kept_key(&mut self, queue: QueueId, key: Name, kept: Row<KeptKey>, change: Change) {
        let before = self.rows_of(queue).kept_keys.insert(key.clone(), kept);
        self.undo.push(Undo::KeptKey(queue, key, before));
        self.changes.push(change);
    }

    pub fn put_lease(&mut self, name: Name, row: Row<LeaseRow>, change: Change) {
        let before = self.leases.insert(name.clone(), row);
        self.undo.push(Undo::Lease(name, before));
        self.changes.push(change);
    }

    pub fn put_value(&mut self, key: Name, value: StagedValue, change: Change) {
        let before = self.values.insert(key.clone(), value);
        self.undo.push(Undo::Value(key, before));
        self.changes.push(change);
    }

    pub fn put_schedule(&mut self, name: Name, row: Row<Schedule>, change: Change) {
        self.undo.push(Undo::Schedule(name.clone(), self.schedules.insert(name, row)));
        self.changes.push(change);
    }

    /// A change of `last_seq` alone is no change of its own: the task's row tells it.
    pub fn put_queue(&mut self, queue: QueueId, row: StagedQueue, change: Option<Change>) {
        let before = std::mem::replace(&mut self.rows_of(queue).row, row);
        self.undo.push(Undo::Queue(queue, before));
        self.changes.extend(change);
    }

    pub fn name_queue(&mut self, name: Name, queue: QueueId, change: Change) {
        self.queue_names.insert(name.clone(), queue);
        self.undo.push(Undo::QueueName(name));
        self.changes.push(change);
    }

    /// A change that no later command of the entry reads.
    pub fn note(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Every row of the state's `ready` index up to `floor` is staged.
    pub fn raise_ready_floor(&mut self, queue: QueueId, floor: Place) {
        let rows = self.rows_of(queue);
        rows.ready_floor = rows.ready_floor.max(Some(floor));
    }

    fn write_task(&mut self, staged: StagedTask) {
        let (place, before) = match self.tasks.place_of(staged.id) {
            Some(place) => {
                self.unindex(place);
                let before = std::mem::replace(self.tasks.at_mut(place), staged);
                (place, Some(Box::new(before)))
            }
            None => (self.tasks.push(staged), None),
        };
        self.unindexed.push(place);
        self.undo.push(Undo::Task(place, before));
    }

    fn restore_task(&mut self, place: u32, before: Option<Box<StagedTask>>) {
        self.unindex(place);
        match before {
            Some(before) => {
                *self.tasks.at_mut(place) = *before;
                self.unindexed.push(place);
            }
            // Undone in reverse, so the first write of a row is the last of the list.
            None => self.tasks.pop(),
        }
    }

    fn unindex(&mut self, place: u32) {
        let StagedTask { queue, row, indexed, .. } = self.tasks.at_mut(place);
        let was_indexed = std::mem::replace(indexed, false);
        let (Some(task), true) = (row, was_indexed) else { return };
        let rows = &mut self.queues[queue.0 as usize];
        let index = rows.index.as_mut().expect("an indexed row has an index");
        index.update(task, &Places::of(task, self.indexed_at), &Places::NONE);
    }

    fn rows_of(&mut self, queue: QueueId) -> &mut QueueRows {
        let position = queue.0 as usize;
        if self.queues.len() <= position {
            self.queues.resize_with(position + 1, QueueRows::default);
        }
        let rows = &mut self.queues[position];
        if !std::mem::replace(&mut rows.is_touched, true) {
            self.touched.push(queue);
        }
        rows
    }

    fn of_queue(&self, queue: QueueId) -> Option<&QueueRows> {
        self.queues.get(queue.0 as usize)
    }
}

/// Reading what is staged; the outer `None` says: ask the state.
impl Staged {
    pub fn task(&self, id: TaskId) -> Option<Option<&Task>> {
        self.tasks.of(id).map(|staged| staged.row.as_ref())
    }

    pub fn kept_key(&self, queue: QueueId, key: &str) -> Option<Row<KeptKey>> {
        self.of_queue(queue)?.kept_keys.get(key).copied()
    }

    pub fn lease(&self, name: &str) -> Option<Option<&LeaseRow>> {
        self.leases.get(name).map(Option::as_ref)
    }

    pub fn schedule(&self, name: &str) -> Option<Option<&Schedule>> {
        self.schedules.get(name).map(Option::as_ref)
    }

    pub fn schedules(&self) -> impl Iterator<Item = (&Name, Option<&Schedule>)> {
        self.schedules.iter().map(|(name, row)| (name, row.as_ref()))
    }

    pub fn value(&self, key: &str) -> Option<&StagedValue> {
        self.values.get(key)
    }

    /// In key order.
    pub fn values_of<'a>(
        &'a self,
        keys: (Bound<&str>, Bound<&str>),
    ) -> impl Iterator<Item = (&'a Name, &'a StagedValue)> + use<'a> {
        self.values.range(keys)
    }

    pub fn queue(&self, queue: QueueId) -> StagedQueue {
        self.of_queue(queue).map(|rows| rows.row).unwrap_or_default()
    }

    pub fn queue_id(&self, name: &str) -> Option<QueueId> {
        self.queue_names.get(name).copied()
    }

    pub fn new_queues(&self) -> usize {
        self.queue_names.len()
    }

    pub fn ready_floor(&self, queue: QueueId) -> Option<Place> {
        self.of_queue(queue)?.ready_floor
    }

    /// Makes the indexes over the staged rows, right for `now`.
    pub fn index_at(&mut self, now: Instant) {
        match now.cmp(&self.indexed_at) {
            Ordering::Less => self.unindex_all(),
            Ordering::Equal => {}
            Ordering::Greater => self.advance(now),
        }
        self.indexed_at = now;
        while let Some(place) = self.unindexed.pop() {
            // The row may have been undone, or written twice.
            let Some(staged) = self.tasks.get_mut(place) else { continue };
            if std::mem::replace(&mut staged.indexed, true) || staged.row.is_none() {
                continue;
            }
            let queue = staged.queue;
            self.rows_of(queue);
            let task = self.tasks.at(place).row.as_ref().expect("looked at above");
            let index = self.queues[queue.0 as usize].index.get_or_insert_default();
            index.update(task, &Places::NONE, &Places::of(task, now));
        }
    }

    /// As [`crate::state::State::advance`].
    fn advance(&mut self, now: Instant) {
        let from = self.indexed_at;
        for queue in &self.touched {
            let rows = &mut self.queues[queue.0 as usize];
            rows.ready_floor = None;
            let Some(index) = &mut rows.index else { continue };
            for id in index.due(from, now) {
                let staged = self.tasks.of(id).expect("an index names staged rows");
                let task = staged.row.as_ref().expect("a removed row is in no index");
                index.update(task, &Places::of(task, from), &Places::of(task, now));
            }
        }
    }

    /// A clock that was set back: rare, so all indexes are made again.
    fn unindex_all(&mut self) {
        self.unindexed = (0..self.tasks.len() as u32).collect();
        self.tasks.iter_mut().for_each(|staged| staged.indexed = false);
        for queue in &self.touched {
            let rows = &mut self.queues[queue.0 as usize];
            (rows.index, rows.ready_floor) = (None, None);
        }
    }

    /// As of the last [`Staged::index_at`].
    pub fn index(&self, queue: QueueId) -> Option<&TaskIndex> {
        self.of_queue(queue)?.index.as_deref()
    }
}

/// Commands.
impl Staged {
    pub fn changes_since(&self, savepoint: Savepoint) -> &[Change] {
        &self.changes[savepoint.changes..]
    }

    pub fn undo(&mut self, savepoint: Savepoint) {
        self.weight = savepoint.weight;
        self.counters = savepoint.counters;
        self.changes.truncate(savepoint.changes);
        if self.undo.len() > savepoint.undo {
            for queue in &self.touched {
                self.queues[queue.0 as usize].ready_floor = None;
            }
        }
        while self.undo.len() > savepoint.undo {
            match self.undo.pop().expect("longer than the savepoint") {
                Undo::Task(place, before) => self.restore_task(place, before),
                Undo::KeptKey(queue, key, before) => {
                    let keys = &mut self.rows_of(queue).kept_keys;
                    match before {
                        Some(kept) => keys.insert(key, kept),
                        None => keys.remove(key.as_str()),
                    };
                }
                Undo::Lease(name, before) => restore(&mut self.leases, name, before),
                Undo::Value(key, before) => restore(&mut self.values, key, before),
                Undo::Schedule(name, before) => restore(&mut self.schedules, name, before),
                Undo::Queue(queue, before) => self.rows_of(queue).row = before,
                Undo::QueueName(name) => {
                    self.queue_names.remove(name.as_str());
                }
            }
        }
    }

    /// Ends a command: what it changed takes the next version.
    pub fn keep(&mut self) {
        self.undo.clear();
        if self.changes.len() > self.command_ends.last().map_or(0, |end| *end as usize) {
            self.command_ends.push(self.changes.len() as u32);
        }
    }

    /// Whether the log is founded on a snapshot that is to come, by the first change.
    pub fn founds_restoring(&self) -> bool {
        matches!(self.changes.first(), Some(Change::Restoring { .. }))
    }

    /// Whether the newest command brought the log's time back.
    pub fn repairs_clock(&self) -> bool {
        matches!(self.changes.last(), Some(Change::ClockRepaired))
    }

    /// How many commands have changed something.
    pub fn commands(&self) -> usize {
        self.command_ends.len()
    }

    /// Forgets everything; the next command goes on from `counters`. Lists keep their room.
    pub fn clear(&mut self, counters: Counters) {
        (self.counters, self.weight) = (counters, 0);
        self.tasks.clear();
        self.leases.clear();
        self.values.clear();
        self.schedules.clear();
        for queue in self.touched.drain(..) {
            self.queues[queue.0 as usize].clear();
        }
        self.queue_names.clear();
        self.changes.clear();
        self.command_ends.clear();
        self.undo.clear();
        self.unindexed.clear();
        self.changes.shrink_to(ROOM_BYTES_KEPT / size_of::<Change>());
        self.undo.shrink_to(ROOM_BYTES_KEPT / size_of::<Undo>());
        self.unindexed.shrink_to(ROOM_BYTES_KEPT / size_of::<u32>());
    }

    /// The changes for the entry; the rows go on being read until the entry is merged or discarded.
    pub fn take_changes(&mut self) -> (Vec<Change>, Vec<u32>) {
        (std::mem::take(&mut self.changes), std::mem::take(&mut self.command_ends))
    }

    /// Uses the room of lists that were taken for the next entry.
    pub fn reuse(&mut self, mut changes: Vec<Change>, mut command_ends: Vec<u32>) {
        changes.clear();
        command_ends.clear();
        changes.shrink_to(ROOM_BYTES_KEPT / size_of::<Change>());
        (self.changes, self.command_ends) = (changes, command_ends);
    }
}

fn restore<T>(table: &mut Table<T>, name: Name, before: Option<T>) {
    match before {
        Some(row) => table.insert(name, row),
        None => table.remove(name.as_str()),
    };
}
