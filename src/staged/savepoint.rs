//! Where a command began: what is behind it goes when the command is undone.

use super::Staged;
use crate::change::Counters;
use crate::id::TaskId;

/// Where a command began.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    pub(super) weight: i64,
    pub(super) counters: Counters,
    pub(super) undo: usize,
    pub(super) changes: usize,
}

impl Savepoint {
    /// The last task id that was given out.
    pub fn last_id(&self) -> TaskId {
        self.counters.task_id
    }
}

/// What the store has grown by.
impl Staged {
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            weight: self.weight,
            counters: self.counters,
            undo: self.undo.len(),
            changes: self.changes.len(),
        }
    }

    /// The store grows by a row, or shrinks.
    pub fn weigh(&mut self, added: u64, removed: u64) {
        self.weight += added as i64 - removed as i64;
    }

    pub fn weight(&self) -> i64 {
        self.weight
    }

    pub fn weight_since(&self, savepoint: Savepoint) -> i64 {
        self.weight - savepoint.weight
    }
}
