//! What rows weigh as a command sees them: how much the store grows by what it writes.

use super::Txn;
use crate::change::KeptKey;
use crate::id::QueueId;
use crate::name::Name;
use crate::task::Task;
use crate::usage::{self, ERROR_BYTES_FREE};

impl Txn<'_> {
    /// In a store without room for it, to what a task's weight has room for.
    pub(super) fn cut_error(&self, task: &mut Task) {
        let Some(text) = &task.last_error else { return };
        if text.len() > ERROR_BYTES_FREE && !self.has_room_for(text.len() as u64) {
            let end = text.floor_char_boundary(ERROR_BYTES_FREE);
            task.last_error = Some(text[..end].into());
        }
    }

    pub(super) fn weigh_notes(&mut self, task: &Task) {
        let before = self.task(task.id).map_or(0, usage::notes_weight);
        self.staged.weigh(usage::notes_weight(task), before);
    }

    pub(super) fn has_room_for(&self, bytes: u64) -> bool {
        let size = self.state.usage.bytes().saturating_add_signed(self.staged.weight());
        size + bytes <= self.store_bytes_max
    }

    pub(super) fn lease_weight(&self, name: &Name) -> u64 {
        let row = match self.staged.lease(name.as_str()) {
            Some(row) => row,
            None => self.state.leases.get(name.as_str()),
        };
        row.map_or(0, |row| usage::lease_weight(name, row))
    }

    pub(super) fn schedule_weight(&self, name: &Name) -> u64 {
        self.schedule(name.as_str()).map_or(0, |row| usage::schedule_weight(name, row))
    }

    pub(super) fn value_weight(&self, key: &Name) -> u64 {
        self.value(key.as_str()).map_or(0, |(value, _)| usage::value_weight(key, value))
    }

    pub(super) fn kept_key(&self, queue: QueueId, key: &str) -> Option<KeptKey> {
        let rows = self.state.queues.get(queue.0 as usize);
        let merged = || rows.and_then(|rows| rows.kept_keys.get(key)).copied();
        self.staged.kept_key(queue, key).unwrap_or_else(merged)
    }
}
