//! What is staged for one queue.

use super::Row;
use crate::change::KeptKey;
use crate::id::Seq;
use crate::index::TaskIndex;
use crate::keys::Keys;
use crate::place::Place;

#[derive(Debug, Default)]
pub struct QueueRows {
    /// Whether anything is staged here.
    pub is_touched: bool,
    pub row: StagedQueue,
    pub kept_keys: Keys<Row<KeptKey>>,
    /// Of the queue's staged tasks, as far as they are indexed.
    pub index: Option<Box<TaskIndex>>,
    /// Below it, every row of the state's `ready` index is staged already.
    pub ready_floor: Option<Place>,
}

/// What an entry has changed about a queue so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct StagedQueue {
    pub paused: Option<bool>,
    pub last_seq: Option<Seq>,
}

impl QueueRows {
    /// Forgets everything, and keeps its room.
    pub fn clear(&mut self) {
        (self.is_touched, self.row) = (false, StagedQueue::default());
        self.kept_keys.clear();
        (self.index, self.ready_floor) = (None, None);
    }
}
