//! The rows of a store, their indexes, and `merge`, the only thing that changes a row.
//!
//! Own commits, catching up with another replica and restoring after a restart are the same call:
//! an entry goes in, its rows replace those of the state, and every index follows from (row before,
//! row after). The state is a cache of the log: dropping it loses nothing.
//!
//! **Invariant:** `merge` cannot fail; what might not fit is refused before by [`crate::accept`].
//! [`State::advance`] moves the horizon of the indexes and changes no row.
//!
//! **Cost:** per change O(log n). Rows lie in an arena; indexes hold ids.

mod fill;
mod weighed;

use crate::arena::Arena;
use crate::change::{Change, Counters, Entry, Hash, LogId, ValueRow};
use crate::id::{Instant, QueueId, Slot, TaskId, Version};
use crate::index::{Places, TaskIndex};
use crate::lease::LeaseRow;
use crate::name::Name;
use crate::ordered::Ordered;
use crate::place::Place;
use crate::queue::{Outlook, Queue};
use crate::removals::Removals;
use crate::replicas::Replicas;
use crate::schedule::Schedule;
use crate::table::Table;
use crate::task::{Task, TaskRow};
use crate::timetable::Timetable;
use crate::usage::Usage;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// Where the log stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub log_id: LogId,
    /// The store's name; `None` before the log is founded.
    pub store: Option<Name>,
    pub slot: Slot,
    pub hash: Hash,
    pub version: Version,
    pub time: Instant,
    /// Founded, but its rows are those of a snapshot that the journal has not given yet.
    pub is_restoring: bool,
}

/// Everything a replica knows.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub head: Head,
    pub counters: Counters,
    pub replicas: Replicas,
    /// Of tasks that leave no other trace.
    pub removals: Removals,
    /// What the rows weigh.
    pub usage: Usage,
    pub leases: Table<LeaseRow>,
    /// Lease records by the instant at which they are removed.
    pub leases_gone: Ordered<Name>,
    pub values: Table<ValueRow>,
    pub timetable: Timetable,
    pub queue_names: Table<QueueId>,
    /// By queue id.
    pub queues: Vec<Queue>,
    /// Where each row lies in `rows`.
    places: BTreeMap<TaskId, u32>,
    rows: Arena<Task>,
    /// The instant for which the task indexes are right.
    horizon: Instant,
    /// When time alone next changes something about each queue. The ids say nothing: they make it
    /// a tree of the same type as the indexes.
    agenda: BTreeMap<Place, TaskId>,
    /// How many queues have something to bury, to purge or to free: its time is not ahead any more.
    overdue: usize,
    /// The queue whose outlook may have changed since the agenda was brought up to date; `None`
    /// between calls.
    touched: Option<QueueId>,
}

impl State {
    /// Puts the rows of an entry that follows on the head, and leaves its list of changes empty;
    /// `hash` is the entry's. Each change is shown before it is applied, with the version of its
    /// command and the state that it meets.
    pub fn merge(
        &mut self,
        entry: &mut Entry,
        hash: Hash,
        mut before_each: impl FnMut(&Self, Version, &Change),
    ) {
        let body = &mut entry.body;
        self.head.log_id = entry.log_id;
        self.head.slot = entry.slot;
        self.head.hash = hash;
        self.head.time = body.time;
        self.counters = body.counters;
        self.replicas.record(body.commit, entry.slot);
        if let Some(Change::Founded { rows: Some(rows), .. }) = body.changes.first() {
            // A version that a value has already is not given out again.
            let newest = rows.values.iter().map(|(_, row)| row.version).max();
            self.head.version = newest.unwrap_or_default();
        }
        let mut ends = body.command_ends.iter().peekable();
        let mut version = self.next_version();
        for (position, change) in body.changes.drain(..).enumerate() {
            while ends.next_if(|end| **end as usize <= position).is_some() {
                self.head.version = version;
                version = self.next_version();
            }
            before_each(self, version, &change);
            self.apply(change, version);
        }
        if ends.next().is_some() {
            self.head.version = version;
        }
        self.look_out();
    }

    /// The version that the next command takes.
    pub fn next_version(&self) -> Version {
        Version::saturating(self.head.version.get() + 1)
    }

    fn apply(&mut self, change: Change, version: Version) {
        match change {
            Change::Founded { store, rows } => {
                self.head.store = Some(store);
                if let Some(rows) = rows {
                    self.put_rows(Arc::unwrap_or_clone(rows));
                }
            }
            Change::Restoring { store } => {
                self.head.store = Some(store);
                self.head.is_restoring = true;
            }
            Change::ClockRepaired => {}
            Change::QueueCreated { queue, name } => self.add_queue(queue, name),
            Change::QueuePaused { queue, paused } => self.queue_mut(queue).paused = paused,
            Change::TaskCreated { id, queue, spec, row } => {
                let (progress, last_error, result) = (None, None, None);
                self.add_task(Task { id, queue, spec, row, progress, last_error, result });
            }
            Change::TaskChanged { id, row } => self.replace_row(id, row),
            Change::TaskProgress { id, progress } => {
                self.change_notes(id, |task| task.progress = progress);
            }
            Change::TaskError { id, text } => self.change_notes(id, |task| task.last_error = text),
            Change::TaskResult { id, result } => self.change_notes(id, |task| task.result = result),
            Change::TaskRemoved { id, removal } => {
                self.remove_task(id);
                self.removals.note(id, removal);
            }
            Change::KeyKept { queue, key, kept } => self.keep_key(queue, key, kept),
            Change::KeyFreed { queue, key } => self.free_key(queue, &key),
            Change::LeasePut { name, row } => self.put_lease(name, row),
            Change::LeaseRemoved { name } => self.remove_lease(&name),
            Change::ValuePut { key, value } => self.put_value(key, ValueRow { value, version }),
            Change::ValueDeleted { key } => self.delete_value(&key),
            Change::SchedulePut { name, spec, row } => {
                self.put_schedule(name, Schedule { spec, row });
            }
            Change::ScheduleMoved { name, row } => self.move_schedule(name, row),
            Change::ScheduleRemoved { name } => drop(self.remove_schedule(&name)),
        }
    }

    fn add_queue(&mut self, queue: QueueId, name: Name) {
        assert_eq!(queue.0 as usize, self.queues.len(), "queues are numbered in order");
        self.usage.queue(&name);
        self.queue_names.insert(name.clone(), queue);
        self.queues.push(Queue::new(name));
    }

    fn add_task(&mut self, task: Task) {
        self.usage.task(&task, true);
        let (id, queue) = (task.id, task.queue);
        let rows = &mut self.queues[queue.0 as usize];
        rows.last_seq = rows.last_seq.max(task.spec.seq);
        let moves_in_time =
            rows.tasks.update(&task, &Places::NONE, &Places::of(&task, self.horizon));
        let place = self.rows.insert(task);
        self.places.insert(id, place);
        if moves_in_time {
            self.touch(queue);
        }
    }

    fn replace_row(&mut self, id: TaskId, row: TaskRow) {
        let task = &mut self.rows[self.places[&id]];
        let before = Places::of(task, self.horizon);
        task.row = row;
        let (queue, after) = (task.queue, Places::of(task, self.horizon));
        if self.queues[queue.0 as usize].tasks.update(task, &before, &after) {
            self.touch(queue);
        }
    }

    fn remove_task(&mut self, id: TaskId) {
        let place = self.places.remove(&id).expect("only known tasks are removed");
        let task = self.rows.remove(place);
        self.usage.task(&task, false);
        let rows = &mut self.queues[task.queue.0 as usize];
        if rows.tasks.update(&task, &Places::of(&task, self.horizon), &Places::NONE) {
            self.touch(task.queue);
        }
    }

    fn put_lease(&mut self, name: Name, row: LeaseRow) {
        self.remove_lease(&name);
        self.usage.lease(&name, &row, true);
        self.leases_gone.insert(row.gone_place(), name.clone());
        self.leases.insert(name, row);
    }

    fn remove_lease(&mut self, name: &Name) {
        if let Some(row) = self.leases.remove(name.as_str()) {
            self.usage.lease(name, &row, false);
            self.leases_gone.remove(row.gone_place());
        }
    }

    fn queue_mut(&mut self, queue: QueueId) -> &mut Queue {
        &mut self.queues[queue.0 as usize]
    }

    /// What is due of a queue has changed. Most entries change one queue, several times.
    fn touch(&mut self, id: QueueId) {
        if self.touched != Some(id) {
            self.look_out();
            self.touched = Some(id);
        }
    }

    /// Brings the agenda up to date.
    fn look_out(&mut self) {
        let Some(id) = self.touched.take() else { return };
        let queue = &mut self.queues[id.0 as usize];
        let outlook = queue.outlook(self.horizon);
        let before = std::mem::replace(&mut queue.outlook, outlook);
        if before.is_overdue != outlook.is_overdue {
            match outlook.is_overdue {
                true => self.overdue += 1,
                false => self.overdue -= 1,
            }
        }
        if before.next_due == outlook.next_due {
            return;
        }
        if let Some(at) = before.next_due {
            self.agenda.remove(&Place::of_queue(id, at));
        }
        if let Some(at) = outlook.next_due {
            self.agenda.insert(Place::of_queue(id, at), TaskId::default());
        }
    }
}

/// The horizon of the indexes.
impl State {
    /// Makes the task indexes right for `now`: promotes every matured task, moves lapsed claims
    /// back to their place, sets expired ones apart. **Cost:** O(log n) per moved row, O(1) when
    /// none moves.
    pub fn advance(&mut self, now: Instant) {
        if now < self.horizon {
            self.rebuild(now);
        }
        let from = std::mem::replace(&mut self.horizon, now);
        while let Some(place) = self.first_due().filter(|place| place.at <= now) {
            let id = QueueId(place.number as u32);
            let queue = &mut self.queues[id.0 as usize];
            for id in queue.tasks.due(from, now) {
                let task = &self.rows[self.places[&id]];
                queue.tasks.update(task, &Places::of(task, from), &Places::of(task, now));
            }
            self.touch(id);
            self.look_out();
            assert!(self.first_due() != Some(place), "advancing leaves nothing due");
        }
    }

    fn first_due(&self) -> Option<Place> {
        self.agenda.first_key_value().map(|(place, _)| *place)
    }

    /// A clock that was set back: rare, so all indexes are made again.
    fn rebuild(&mut self, horizon: Instant) {
        self.horizon = horizon;
        self.agenda.clear();
        self.overdue = 0;
        for queue in &mut self.queues {
            queue.tasks = TaskIndex::default();
            queue.outlook = Outlook::default();
        }
        for task in self.rows.iter() {
            let tasks = &mut self.queues[task.queue.0 as usize].tasks;
            tasks.update(task, &Places::NONE, &Places::of(task, horizon));
        }
        for id in 0..self.queues.len() {
            self.touch(QueueId(id as u32));
        }
        self.look_out();
    }

    pub fn horizon(&self) -> Instant {
        self.horizon
    }

    /// When time alone changes what a claim, a sweep, a firing or a read would answer; without the
    /// schedules whose boundaries the host works out. Not ahead while something is overdue, however
    /// long ago its time came: whoever looked meanwhile has not enforced it.
    pub fn next_due(&self) -> Option<Instant> {
        if self.overdue > 0 {
            return Some(self.horizon);
        }
        let indexes = self.first_due().map(|place| place.at);
        let ahead =
            self.leases_gone.first().map(|place| place.at).filter(|at| *at < Instant::NEVER);
        indexes.into_iter().chain(ahead).chain(self.timetable.next_due()).min()
    }
}

/// Reading rows.
impl State {
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.places.get(&id).map(|place| &self.rows[*place])
    }

    /// In id order.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = &Task> {
        self.places.values().map(|place| &self.rows[*place])
    }

    /// Those behind an id, up to another.
    pub fn tasks_between(
        &self,
        after: TaskId,
        last: TaskId,
    ) -> impl Iterator<Item = (TaskId, &Task)> {
        let ids = (Bound::Excluded(after), Bound::Unbounded);
        let places = self.places.range(ids).take_while(move |(id, _)| **id <= last);
        places.map(|(id, place)| (*id, &self.rows[*place]))
    }

    pub fn newest_task(&self) -> Option<&Task> {
        self.places.last_key_value().map(|(_, place)| &self.rows[*place])
    }

    pub fn queue_id(&self, name: &str) -> Option<QueueId> {
        self.queue_names.get(name).copied()
    }

    pub fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[id.0 as usize]
    }
}
