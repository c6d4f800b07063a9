//! Tasks to be claimed, in the order in which claims serve them. The other half of the timer wheel.
//!
//! A lapsed claim with attempts left stands here in its old place, although its row still says in
//! flight: nothing is written until somebody claims it.

use super::At;
use crate::place::Place;
use crate::task::TaskState;

pub fn place(At(task, now): At<'_>) -> Option<Place> {
    let serves = match task.row.state {
        TaskState::Waiting => task.row.run_at <= now && !task.is_expired(now),
        TaskState::Inflight(_) => task.is_lapsed(now) && task.doom(now).is_none(),
        TaskState::Done { .. } | TaskState::Dead { .. } => false,
    };
    serves.then(|| Place::ranked(task.spec.priority, task.row.run_at, task.spec.seq))
}
