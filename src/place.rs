//! Where a row stands in an ordered index, whichever of them it is.
//!
//! One type for all of them, so that the compiler makes one tree and not seven. Other orders use it
//! for the same reason: of hashes, of instants.

use crate::id::{Instant, Priority, QueueId, SAFE_MAX, Seq, TaskId};

/// The order of the fields is the order of the indexes; an index leaves at zero what it does not
/// use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub rank: u64,
    pub at: Instant,
    /// A sequence number, an id, or what tells apart what is alike: unique in its index.
    pub number: u64,
}

impl Place {
    pub fn at(at: Instant, seq: Seq) -> Self {
        Self { rank: 0, at, number: seq.get() }
    }

    pub fn ranked(priority: Priority, at: Instant, seq: Seq) -> Self {
        // Higher priorities come first; both ends of their range stay far from those of a u64.
        let rank = (SAFE_MAX as i64 - priority.get()) as u64;
        Self { rank, at, number: seq.get() }
    }

    pub fn in_queue(queue: QueueId, seq: Seq) -> Self {
        Self { rank: queue.0.into(), at: Instant::default(), number: seq.get() }
    }

    pub fn numbered(rank: u64, id: TaskId) -> Self {
        Self { rank, at: Instant::default(), number: id.get() }
    }

    /// Of a queue, at an instant.
    pub fn of_queue(queue: QueueId, at: Instant) -> Self {
        Self { rank: 0, at, number: queue.0.into() }
    }

    /// Before everything at an instant.
    pub fn first(at: Instant) -> Self {
        Self { rank: 0, at, number: 0 }
    }

    /// Behind everything at an instant.
    pub fn last(at: Instant) -> Self {
        Self { rank: 0, at, number: u64::MAX }
    }

    pub fn last_of_rank(self) -> Self {
        Self { at: Instant::NEVER, number: u64::MAX, ..self }
    }
}
