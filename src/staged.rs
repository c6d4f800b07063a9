//! What the commands of one undecided entry have written: rows over the state, and the way back.
//!
//! Each write is kept three times: as the row that later commands of the same entry read, as the
//! change that the entry will carry, and as the step that undoes it. A command ends with
//! [`Staged::keep`] or with [`Staged::undo`] to its [`Savepoint`]; a refused one takes nothing else
//! with it.
//!
//! **Cost:** a command pays for its own rows. The ordered indexes over staged rows are made only
//! when a later command of the same entry asks for them.

use crate::blob::Blob;
use crate::change::{Change, Counters, KeptKey};
use crate::id::{Instant, QueueId, Seq, TaskId, Version};
use crate::index::{Keys, ReadyKey, TaskIndex};
use crate::lease::LeaseRow;
use crate::name::Name;
use crate::task::Task;
use std::collections::BTreeMap;

/// `None`: the row was removed.
pub type Row<T> = Option<T>;

/// The rows of an entry that is not decided yet.
#[derive(Debug, Default)]
pub struct Staged {
    pub counters: Counters,
    tasks: BTreeMap<TaskId, StagedTask>,
    kept_keys: BTreeMap<QueueId, BTreeMap<Name, Row<KeptKey>>>,
    leases: BTreeMap<Name, Row<LeaseRow>>,
    values: BTreeMap<Name, StagedValue>,
    queues: BTreeMap<QueueId, StagedQueue>,
    queue_names: BTreeMap<Name, QueueId>,
    changes: Vec<Change>,
    command_ends: Vec<u32>,
    undo: Vec<Undo>,
    index: BTreeMap<QueueId, TaskIndex<TaskId>>,
    unindexed: Vec<TaskId>,
    indexed_at: Instant,
    /// Below it, every row of the state's `ready` index is staged already.
    ready_floor: BTreeMap<QueueId, ReadyKey>,
}

#[derive(Clone, Debug)]
struct StagedTask {
    queue: QueueId,
    row: Row<Task>,
    indexed: bool,
}

/// A key-value row as this entry leaves it so far.
#[derive(Clone, Debug)]
pub struct StagedValue {
    pub value: Row<Blob>,
    /// Of the command that wrote it.
    pub version: Version,
}

/// What an entry has changed about a queue so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct StagedQueue {
    pub paused: Option<bool>,
    pub last_seq: Option<Seq>,
}

#[derive(Debug)]
enum Undo {
    Task(TaskId, Option<StagedTask>),
    KeptKey(QueueId, Name, Option<Row<KeptKey>>),
    Lease(Name, Option<Row<LeaseRow>>),
    Value(Name, Option<StagedValue>),
    Queue(QueueId, Option<StagedQueue>),
    QueueName(Name),
}

/// Where a command began.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    counters: Counters,
    undo: usize,
    changes: usize,
}

/// Writing. Each takes the change along.
impl Staged {
    pub fn put_task(&mut self, task: Task, change: Change) {
        let (id, queue) = (task.id, task.queue);
        self.write_task(id, StagedTask { queue, row: Some(task), indexed: false });
        self.changes.push(change);
    }

    pub fn remove_task(&mut self, id: TaskId, queue: QueueId, change: Change) {
        self.write_task(id, StagedTask { queue, row: None, indexed: false });
        self.changes.push(change);
    }

    pub fn put_kept_key(&mut self, queue: QueueId, key: Name, kept: Row<KeptKey>, change: Change) {
        let before = self.kept_keys.entry(queue).or_default().insert(key.clone(), kept);
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

    /// A change of `last_seq` alone is no change of its own: the task's row tells it.
    pub fn put_queue(&mut self, queue: QueueId, row: StagedQueue, change: Option<Change>) {
        let before = self.queues.insert(queue, row);
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
    pub fn raise_ready_floor(&mut self, queue: QueueId, floor: ReadyKey) {
        let raised = self.ready_floor.get(&queue).map_or(floor, |before| floor.max(*before));
        self.ready_floor.insert(queue, raised);
    }

    fn write_task(&mut self, id: TaskId, staged: StagedTask) {
        let before = self.swap_task(id, Some(staged));
        self.undo.push(Undo::Task(id, before));
    }

    fn swap_task(&mut self, id: TaskId, staged: Option<StagedTask>) -> Option<StagedTask> {
        let before = match staged {
            Some(staged) => self.tasks.insert(id, staged),
            None => self.tasks.remove(&id),
        };
        if let Some(StagedTask { queue, row: Some(task), indexed: true }) = &before {
            let index = self.index.get_mut(queue).expect("an indexed row has an index");
            index.update(id, &Keys::of(task, self.indexed_at), &Keys::NONE);
        }
        self.unindexed.push(id);
        before.map(|before| StagedTask { indexed: false, ..before })
    }
}

/// Reading what is staged; the outer `None` says: ask the state.
impl Staged {
    pub fn task(&self, id: TaskId) -> Option<Option<&Task>> {
        if self.tasks.is_empty() {
            return None;
        }
        self.tasks.get(&id).map(|staged| staged.row.as_ref())
    }

    pub fn kept_key(&self, queue: QueueId, key: &str) -> Option<Row<KeptKey>> {
        self.kept_keys.get(&queue)?.get(key).copied()
    }

    pub fn lease(&self, name: &str) -> Option<Option<&LeaseRow>> {
        self.leases.get(name).map(Option::as_ref)
    }

    pub fn value(&self, key: &str) -> Option<&StagedValue> {
        self.values.get(key)
    }

    /// In key order.
    pub fn values(&self) -> impl Iterator<Item = (&Name, &StagedValue)> {
        self.values.iter()
    }

    /// The version a key had before the running command: what its checks compare with.
    pub fn value_before(&self, key: &str, since: Savepoint) -> Option<Option<&StagedValue>> {
        self.undo[since.undo..].iter().find_map(|step| match step {
            Undo::Value(written, before) if written.as_str() == key => Some(before.as_ref()),
            _ => None,
        })
    }

    pub fn queue(&self, queue: QueueId) -> StagedQueue {
        self.queues.get(&queue).copied().unwrap_or_default()
    }

    pub fn queue_id(&self, name: &str) -> Option<QueueId> {
        self.queue_names.get(name).copied()
    }

    pub fn new_queues(&self) -> usize {
        self.queue_names.len()
    }

    pub fn ready_floor(&self, queue: QueueId) -> Option<ReadyKey> {
        self.ready_floor.get(&queue).copied()
    }

    /// The indexes over the staged rows of a queue, right for `now`.
    pub fn index_at(&mut self, queue: QueueId, now: Instant) -> Option<&TaskIndex<TaskId>> {
        if now != self.indexed_at {
            self.indexed_at = now;
            self.index.clear();
            self.ready_floor.clear();
            self.unindexed = self.tasks.keys().copied().collect();
            self.tasks.values_mut().for_each(|staged| staged.indexed = false);
        }
        for id in std::mem::take(&mut self.unindexed) {
            let Some(staged) = self.tasks.get_mut(&id) else { continue };
            if std::mem::replace(&mut staged.indexed, true) {
                continue;
            }
            if let Some(task) = &staged.row {
                let index = self.index.entry(staged.queue).or_default();
                index.update(id, &Keys::NONE, &Keys::of(task, now));
            }
        }
        self.index.get(&queue)
    }

    /// As of the last [`Staged::index_at`].
    pub fn index(&self, queue: QueueId) -> Option<&TaskIndex<TaskId>> {
        self.index.get(&queue)
    }
}

/// Commands.
impl Staged {
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { counters: self.counters, undo: self.undo.len(), changes: self.changes.len() }
    }

    pub fn changes_since(&self, savepoint: Savepoint) -> &[Change] {
        &self.changes[savepoint.changes..]
    }

    pub fn undo(&mut self, savepoint: Savepoint) {
        self.counters = savepoint.counters;
        self.changes.truncate(savepoint.changes);
        if self.undo.len() > savepoint.undo {
            self.ready_floor.clear();
        }
        while self.undo.len() > savepoint.undo {
            match self.undo.pop().expect("longer than the savepoint") {
                Undo::Task(id, before) => {
                    self.swap_task(id, before);
                }
                Undo::KeptKey(queue, key, before) => {
                    restore(self.kept_keys.entry(queue).or_default(), key, before);
                }
                Undo::Lease(name, before) => restore(&mut self.leases, name, before),
                Undo::Value(key, before) => restore(&mut self.values, key, before),
                Undo::Queue(queue, before) => restore(&mut self.queues, queue, before),
                Undo::QueueName(name) => {
                    self.queue_names.remove(&name);
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

    /// Whether the log is founded on the rows of a snapshot, by the first change.
    pub fn founds_with_rows(&self) -> bool {
        matches!(self.changes.first(), Some(Change::Founded { rows: Some(_), .. }))
    }

    /// How many commands have changed something.
    pub fn commands(&self) -> usize {
        self.command_ends.len()
    }

    /// Forgets everything; the next command goes on from `counters`. Lists keep their room.
    pub fn clear(&mut self, counters: Counters) {
        self.counters = counters;
        self.tasks.clear();
        self.kept_keys.clear();
        self.leases.clear();
        self.values.clear();
        self.queues.clear();
        self.queue_names.clear();
        self.changes.clear();
        self.command_ends.clear();
        self.undo.clear();
        self.index.clear();
        self.unindexed.clear();
        self.ready_floor.clear();
    }

    /// The changes for the entry; the rows go on being read until the entry is merged or discarded.
    pub fn take_changes(&mut self) -> (Vec<Change>, Vec<u32>) {
        (std::mem::take(&mut self.changes), std::mem::take(&mut self.command_ends))
    }
}

fn restore<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, before: Option<V>) {
    match before {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}
