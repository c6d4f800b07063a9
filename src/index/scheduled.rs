//! Waiting tasks that are not due, by due time. One half of the timer wheel.

use super::At;
use crate::place::Place;
use crate::task::TaskState;

pub fn place(At(task, now): At<'_>) -> Option<Place> {
    let waits = matches!(task.row.state, TaskState::Waiting) && task.row.run_at > now;
    waits.then(|| Place::at(task.row.run_at, task.spec.seq))
}
