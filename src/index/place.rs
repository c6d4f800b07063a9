//! Where a row stands in an ordered index, whichever of them it is.
//!
//! One type for all of them, so that the compiler makes one tree and not seven.

use crate::id::{Instant, Priority, SAFE_MAX, Seq, TaskId};

/// The order of the fields is the order of the indexes; an index leaves at zero what it does not
/// use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub rank: u64,
    pub at: Instant,
    /// A sequence number or an id: unique in its index.
    pub number: u64,
}

/// The ordered indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Waiting, not due.
    Scheduled,
    /// To be claimed next: due, or lapsed with attempts left.
    Ready,
    /// Claims that run.
    Inflight,
    /// What expires later.
    Expiry,
    /// To be buried by the next claim or sweep.
    Doomed,
    /// Done and dead rows, by the end of their retention.
    Retention,
    /// Everything that users see, by state and id.
    Phases,
}

impl Order {
    pub const ALL: [Self; 7] = [
        Self::Scheduled,
        Self::Ready,
        Self::Inflight,
        Self::Expiry,
        Self::Doomed,
        Self::Retention,
        Self::Phases,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::Inflight => "inflight",
            Self::Expiry => "expiry",
            Self::Doomed => "doomed",
            Self::Retention => "retention",
            Self::Phases => "phases",
        }
    }
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

    pub fn numbered(rank: u64, id: TaskId) -> Self {
        Self { rank, at: Instant::default(), number: id.get() }
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
