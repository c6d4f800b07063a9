//! Tasks to be claimed, in the order in which claims serve them. The other half of the timer wheel.
//!
//! A lapsed claim with attempts left stands here in its old place, although its row still says in
//! flight: nothing is written until somebody claims it.

use super::At;
use crate::id::{Instant, Priority, SAFE_MAX, Seq};
use crate::task::TaskState;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadyKey {
    pub priority: Reverse<Priority>,
    pub run_at: Instant,
    pub seq: Seq,
}

impl ReadyKey {
    pub fn last_of_priority(self) -> Self {
        Self { run_at: Instant::NEVER, seq: Seq::saturating(SAFE_MAX), ..self }
    }
}

pub fn key(At(task, now): At<'_>) -> Option<ReadyKey> {
    let serves = match task.row.state {
        TaskState::Waiting => task.row.run_at <= now && !task.is_expired(now),
        TaskState::Inflight(_) => task.is_lapsed(now) && task.doom(now).is_none(),
        TaskState::Done { .. } | TaskState::Dead { .. } => false,
    };
    serves.then_some(ReadyKey {
        priority: Reverse(task.spec.priority),
        run_at: task.row.run_at,
        seq: task.spec.seq,
    })
}
