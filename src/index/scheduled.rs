//! Waiting tasks that are not due, by due time. One half of the timer wheel.

use super::At;
use crate::id::{Instant, SAFE_MAX, Seq};
use crate::task::TaskState;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScheduledKey {
    pub run_at: Instant,
    pub seq: Seq,
}

impl ScheduledKey {
    pub fn last(run_at: Instant) -> Self {
        Self { run_at, seq: Seq::saturating(SAFE_MAX) }
    }
}

pub fn key(At(task, now): At<'_>) -> Option<ScheduledKey> {
    let waits = matches!(task.row.state, TaskState::Waiting) && task.row.run_at > now;
    waits.then_some(ScheduledKey { run_at: task.row.run_at, seq: task.spec.seq })
}
