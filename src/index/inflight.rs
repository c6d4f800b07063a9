//! Running claims, by deadline.

use super::At;
use crate::id::{Instant, Millis, Seq};
use crate::task::TaskState;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InflightKey {
    pub deadline: Instant,
    pub seq: Seq,
}

impl InflightKey {
    pub fn first(deadline: Instant) -> Self {
        Self { deadline, seq: Seq::default() }
    }

    /// The owner holds it at the very deadline; the millisecond after, it is lost.
    pub fn lapses_at(self) -> Instant {
        self.deadline.after(Millis::saturating(1))
    }
}

pub fn key(At(task, now): At<'_>) -> Option<InflightKey> {
    match &task.row.state {
        TaskState::Inflight(claim) if claim.deadline >= now => {
            Some(InflightKey { deadline: claim.deadline, seq: task.spec.seq })
        }
        _ => None,
    }
}
