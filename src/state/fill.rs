//! All rows at once, out of a state and into an empty one.

use super::State;
use crate::change::{QueueRow, Rows, StoreRow};
use crate::id::{Instant, QueueId};
use crate::queue::Queue;
use crate::schedule::Schedule;

impl State {
    /// An empty one whose indexes are right for `horizon`: rows that are put in stand where they
    /// belong at once.
    pub fn at(horizon: Instant) -> Self {
        Self { horizon, ..Self::default() }
    }

    /// A copy of them all.
    pub fn rows(&self) -> Rows {
        let row = |queue: &Queue| QueueRow {
            name: queue.name.clone(),
            paused: queue.paused,
            last_seq: queue.last_seq,
            kept_keys: queue.kept_keys().map(|(key, kept)| (key.clone(), *kept)).collect(),
        };
        Rows {
            queues: self.queues.iter().map(row).collect(),
            tasks: self.tasks().cloned().collect(),
            leases: self.leases.clone(),
            values: self.values.clone(),
            schedules: self.timetable.rows().clone(),
        }
    }

    /// Puts a row that is not there yet; it has been checked.
    #[inline(never)]
    pub fn put_row(&mut self, row: StoreRow) {
        match row {
            StoreRow::Queue { name, paused, last_seq } => {
                let id = QueueId(self.queues.len() as u32);
                self.add_queue(id, name);
                let queue = self.queue_mut(id);
                (queue.paused, queue.last_seq) = (paused, last_seq);
            }
            StoreRow::KeptKey { queue, key, kept } => self.keep_key(queue, key, kept),
            StoreRow::Task(task) => self.add_task(task),
            StoreRow::Lease { name, row } => self.put_lease(name, row),
            StoreRow::Value { key, row } => self.put_value(key, row),
            StoreRow::Schedule { name, row } => self.put_schedule(name, row),
            StoreRow::End { .. } => self.look_out(),
        }
    }

    /// Fills an empty state; [`crate::accept::require_sound`] has held.
    pub fn put_rows(&mut self, rows: Rows) {
        assert!(self.queues.is_empty(), "rows are put into an empty state");
        for (id, row) in rows.queues.into_iter().enumerate() {
            let QueueRow { name, paused, last_seq, kept_keys } = row;
            self.put_row(StoreRow::Queue { name, paused, last_seq });
            let queue = QueueId(id as u32);
            for (key, kept) in kept_keys {
                self.put_row(StoreRow::KeptKey { queue, key, kept });
            }
        }
        rows.tasks.into_iter().for_each(|task| self.put_row(StoreRow::Task(task)));
        let lease = |(name, row): (&_, &_)| (Clone::clone(name), Clone::clone(row));
        for (name, row) in rows.leases.iter().map(lease) {
            self.put_row(StoreRow::Lease { name, row });
        }
        for (key, row) in rows.values.iter() {
            self.put_row(StoreRow::Value { key: key.clone(), row: row.clone() });
        }
        let schedule = |row: &Schedule| row.clone();
        for (name, row) in rows.schedules.iter() {
            self.put_row(StoreRow::Schedule { name: name.clone(), row: schedule(row) });
        }
        self.look_out();
    }
}
