//! Where a command began: what is behind it goes when the command is undone.

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
