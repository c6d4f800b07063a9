//! The rows as of one slot, read part by part while commits go on.
//!
//! ```text
//!  rows passed already | rows ahead
//!        ^                   ^
//!        changed: no matter  changed: the row as it was is kept, and read in its place
//! ```
//!
//! Rows are read in the order of their keys. Of what is ahead, the first change keeps the row as it
//! was, or that there was none. So the parts are exactly the rows of the slot at which it began.
//!
//! **Cost:** a part costs its rows. What is kept is what commits change meanwhile ahead.

use crate::change::{Change, KeptKey, ValueRow};
use crate::codec::{PartWriter, RowRef, RowsHash, Sealed, SnapshotHead};
use crate::id::{QueueId, Seq, TaskId};
use crate::lease::LeaseRow;
use crate::name::Name;
use crate::ordered::Ordered;
use crate::place::Place;
use crate::schedule::Schedule;
use crate::state::{Head, State};
use crate::table::Table;
use crate::task::Task;

/// A snapshot that is being written.
#[derive(Debug)]
pub struct Copying {
    head: Head,
    /// Of the first part.
    first: SnapshotHead,
    /// As they were: there are few of them.
    queues: Vec<(Name, bool, Seq)>,
    queues_passed: usize,
    newest_task: TaskId,
    /// By queue and place.
    keys: Walk<Ordered<Option<(Name, KeptKey)>>, Place>,
    tasks: Walk<Ordered<Option<Task>>, Place>,
    leases: Walk<Table<Option<LeaseRow>>, Name>,
    values: Walk<Table<Option<ValueRow>>, Name>,
    schedules: Walk<Table<Option<Schedule>>, Name>,
    rows: u64,
    number: u64,
    previous: [u8; 16],
    is_over: bool,
    part_bytes: usize,
}

impl Copying {
    pub fn of(state: &State, part_bytes: usize) -> Self {
        let row = |queue: &crate::queue::Queue| (queue.name.clone(), queue.paused, queue.last_seq);
        Self {
            head: state.head.clone(),
            first: SnapshotHead {
                store: state.head.store.clone(),
                version: state.head.version,
                time: state.head.time,
                counters: state.counters,
                replicas: state.replicas.clone(),
            },
            queues: state.queues.iter().map(row).collect(),
            queues_passed: 0,
            newest_task: state.counters.task_id,
            keys: Walk::default(),
            tasks: Walk::default(),
            leases: Walk::default(),
            values: Walk::default(),
            schedules: Walk::default(),
            rows: 0,
            number: 0,
            previous: state.head.hash,
            is_over: false,
            part_bytes,
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// A change is about to be applied to the state.
    pub fn note(&mut self, state: &State, change: &Change) {
        match change {
            Change::TaskChanged { id, .. }
            | Change::TaskProgress { id, .. }
            | Change::TaskError { id, .. }
            | Change::TaskResult { id, .. }
            | Change::TaskRemoved { id, .. } => {
                if *id <= self.newest_task {
                    self.tasks.note(place_of(*id), || state.task(*id).cloned());
                }
            }
            Change::KeyKept { queue, key, kept } => {
                self.note_key(state, *queue, key);
                self.keys.note(in_queue(*queue, kept.place()), || None);
            }
            Change::KeyFreed { queue, key } => self.note_key(state, *queue, key),
            Change::LeasePut { name, .. } | Change::LeaseRemoved { name } => {
                self.leases.note(name.clone(), || state.leases.get(name.as_str()).cloned());
            }
            Change::ValuePut { key, .. } | Change::ValueDeleted { key } => {
                self.values.note(key.clone(), || state.values.get(key.as_str()).cloned());
            }
            Change::SchedulePut { name, .. }
            | Change::ScheduleMoved { name, .. }
            | Change::ScheduleRemoved { name } => {
                self.schedules.note(name.clone(), || state.timetable.get(name.as_str()).cloned());
            }
            Change::Founded { .. }
            | Change::Restoring { .. }
            | Change::ClockRepaired
            | Change::QueueCreated { .. }
            | Change::QueuePaused { .. }
            | Change::TaskCreated { .. } => {}
        }
    }

    fn note_key(&mut self, state: &State, queue: QueueId, key: &Name) {
        if let Some(kept) = state.queue(queue).kept_keys.get(key.as_str()) {
            let place = in_queue(queue, kept.place());
            self.keys.note(place, || Some((key.clone(), *kept)));
        }
    }

    /// The next part; `None` behind the last one.
    pub fn next_part(&mut self, state: &State) -> Option<Sealed> {
        if self.is_over {
            return None;
        }
        let Head { log_id, slot, .. } = self.head;
        let head = (self.number == 0).then_some(&self.first);
        let part_bytes = self.part_bytes;
        let room = part_bytes + part_bytes / 16;
        let mut part = PartWriter::begin(log_id, slot, self.previous, self.number, head, room);
        let is_over = self.walk(state, |row| {
            part.put(row);
            part.size() < part_bytes
        });
        if is_over {
            part.put(RowRef::End(self.rows));
            self.is_over = true;
        }
        let sealed = part.finish();
        self.number += 1;
        self.previous = sealed.hash;
        Some(sealed)
    }

    /// Gives rows to `out` until that has no more room; whether it came to the end.
    fn walk(&mut self, state: &State, mut out: impl FnMut(RowRef<'_>) -> bool) -> bool {
        while let Some((name, paused, last_seq)) = self.queues.get(self.queues_passed) {
            self.queues_passed += 1;
            self.rows += 1;
            if !out(RowRef::Queue(name, *paused, *last_seq)) {
                return false;
            }
        }
        let rows = &mut self.rows;
        let mut take = |row: RowRef<'_>| {
            *rows += 1;
            out(row)
        };
        let (queues, newest_task) = (self.queues.len(), self.newest_task);
        self.keys.step(
            |after| kept_keys(state, queues, after),
            |place, (key, kept)| take(RowRef::KeptKey(QueueId(place.rank as u32), key, kept)),
        ) && self.tasks.step(
            |after| {
                let after =
                    after.map_or(TaskId::default(), |place| TaskId::saturating(place.number));
                let tasks = state.tasks_between(after, newest_task);
                tasks.map(|(id, task)| (place_of(id), task))
            },
            |_, task| take(RowRef::Task(task)),
        ) && self
            .leases
            .step(|after| state.leases.after(after), |name, row| take(RowRef::Lease(name, row)))
            && self
                .values
                .step(|after| state.values.after(after), |key, row| take(RowRef::Value(key, row)))
            && self.schedules.step(
                |after| state.timetable.rows().after(after),
                |name, row| take(RowRef::Schedule(name, row)),
            )
    }
}

/// A hash over all rows: replicas at one version have the same.
pub fn rows_hash(state: &State) -> [u8; 16] {
    let mut hash = RowsHash::default();
    Copying::of(state, usize::MAX).walk(state, |row| {
        hash.put(row);
        true
    });
    hash.finish()
}

/// The kept keys of the first queues, from a place on.
fn kept_keys(
    state: &State,
    queues: usize,
    after: Option<Place>,
) -> impl Iterator<Item = (Place, &(Name, KeptKey))> {
    let first = after.map_or(0, |place| place.rank as usize);
    (first..queues).flat_map(move |position| {
        let queue = QueueId(position as u32);
        let after = after.filter(|_| position == first).map(|place| Place { rank: 0, ..place });
        let rows = state.queue(queue).kept_keys_after(after);
        rows.map(move |row| (in_queue(queue, row.1.place()), row))
    })
}

fn in_queue(queue: QueueId, place: Place) -> Place {
    Place { rank: queue.0.into(), ..place }
}

/// A task by its id.
fn place_of(id: TaskId) -> Place {
    Place::numbered(0, id)
}

/// Rows as they were, by their key; `None`: there was none. The trees are those that rows lie in
/// anyway, so that the compiler makes no others.
trait Before: Default {
    type Key: Ord + Clone;
    type Row;

    fn first(&self) -> Option<Self::Key>;
    fn has(&self, key: &Self::Key) -> bool;
    fn keep(&mut self, key: Self::Key, row: Option<Self::Row>);
    fn take(&mut self, key: &Self::Key) -> Option<Self::Row>;
}

impl<T> Before for Ordered<Option<T>> {
    type Key = Place;
    type Row = T;

    fn first(&self) -> Option<Place> {
        self.first()
    }

    fn has(&self, key: &Place) -> bool {
        self.get(*key).is_some()
    }

    fn keep(&mut self, key: Place, row: Option<T>) {
        self.insert(key, row);
    }

    fn take(&mut self, key: &Place) -> Option<T> {
        self.remove(*key).flatten()
    }
}

impl<T> Before for Table<Option<T>> {
    type Key = Name;
    type Row = T;

    fn first(&self) -> Option<Name> {
        self.first().cloned()
    }

    fn has(&self, key: &Name) -> bool {
        self.contains_key(key.as_str())
    }

    fn keep(&mut self, key: Name, row: Option<T>) {
        self.insert(key, row);
    }

    fn take(&mut self, key: &Name) -> Option<T> {
        self.remove(key.as_str()).flatten()
    }
}

/// The rows of one kind: how far they are passed, and what was changed ahead.
#[derive(Debug)]
struct Walk<B, K> {
    passed: Passed<K>,
    before: B,
}

#[derive(Debug)]
enum Passed<K> {
    None,
    UpTo(K),
    All,
}

impl<B: Default, K> Default for Walk<B, K> {
    fn default() -> Self {
        Self { passed: Passed::None, before: B::default() }
    }
}

impl<B: Before<Key = K>, K: Ord + Clone> Walk<B, K> {
    /// A row is about to change.
    fn note(&mut self, key: K, row: impl FnOnce() -> Option<B::Row>) {
        let is_ahead = match &self.passed {
            Passed::None => true,
            Passed::UpTo(passed) => key > *passed,
            Passed::All => false,
        };
        if is_ahead && !self.before.has(&key) {
            self.before.keep(key, row());
        }
    }

    /// Goes on while there is room; whether it came to the end.
    fn step<'a, I>(
        &mut self,
        rows: impl FnOnce(Option<K>) -> I,
        mut take: impl FnMut(&K, &B::Row) -> bool,
    ) -> bool
    where
        I: Iterator<Item = (K, &'a B::Row)>,
        B::Row: 'a,
    {
        let after = match &self.passed {
            Passed::None => None,
            Passed::UpTo(passed) => Some(passed.clone()),
            Passed::All => return true,
        };
        let mut rows = rows(after).peekable();
        let mut changed = self.before.first();
        loop {
            let is_changed = match (rows.peek(), &changed) {
                (None, None) => break,
                (Some((key, _)), Some(changed)) => changed <= key,
                (_, changed) => changed.is_some(),
            };
            let (key, has_room) = if is_changed {
                let key = changed.take().expect("it was looked at");
                rows.next_if(|(same, _)| *same == key);
                let has_room = self.before.take(&key).is_none_or(|row| take(&key, &row));
                changed = self.before.first();
                (key, has_room)
            } else {
                let (key, row) = rows.next().expect("it was looked at");
                let has_room = take(&key, row);
                (key, has_room)
            };
            if !has_room {
                self.passed = Passed::UpTo(key);
                return false;
            }
        }
        self.passed = Passed::All;
        true
    }
}
