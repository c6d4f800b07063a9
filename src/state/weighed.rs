//! Rows whose weight is kept along: see `usage.rs`.

use super::State;
use crate::change::{KeptKey, ValueRow};
use crate::id::{QueueId, TaskId};
use crate::name::Name;
use crate::schedule::{Schedule, ScheduleRow};
use crate::task::Task;

impl State {
    pub(super) fn change_notes(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        let task = &mut self.rows[self.places[&id]];
        self.usage.notes(task, false);
        change(task);
        self.usage.notes(task, true);
    }

    pub(super) fn keep_key(&mut self, id: QueueId, key: Name, kept: KeptKey) {
        let queue = &mut self.queues[id.0 as usize];
        if queue.kept_keys.get(key.as_str()).is_none() {
            self.usage.kept_key(&key, true);
        }
        queue.keep_key(key, kept);
        self.touch(id);
    }

    pub(super) fn free_key(&mut self, id: QueueId, key: &Name) {
        let queue = &mut self.queues[id.0 as usize];
        if queue.kept_keys.get(key.as_str()).is_some() {
            self.usage.kept_key(key, false);
        }
        queue.free_key(key);
        self.touch(id);
    }

    pub(super) fn put_value(&mut self, key: Name, row: ValueRow) {
        self.delete_value(&key);
        self.usage.value(&key, &row, true);
        self.values.insert(key, row);
    }

    pub(super) fn delete_value(&mut self, key: &Name) {
        if let Some(row) = self.values.remove(key.as_str()) {
            self.usage.value(key, &row, false);
        }
    }

    pub(super) fn put_schedule(&mut self, name: Name, schedule: Schedule) {
        self.remove_schedule(&name);
        self.usage.schedule(&name, &schedule, true);
        self.timetable.put(name, schedule);
    }

    pub(super) fn remove_schedule(&mut self, name: &Name) -> Option<Schedule> {
        let schedule = self.timetable.remove(name)?;
        self.usage.schedule(name, &schedule, false);
        Some(schedule)
    }

    pub(super) fn move_schedule(&mut self, name: Name, row: ScheduleRow) {
        let known = self.remove_schedule(&name).expect("only known schedules are moved");
        self.put_schedule(name, Schedule { row, ..known });
    }
}
