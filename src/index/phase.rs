//! What users see, by state and id: pages of lists and counts. Dead letters are a stretch of it.

use super::At;
use crate::id::TaskId;
use crate::place::Place;
use crate::task::Phase;

/// Before the first row of a state, or behind the row of an id in it.
pub fn behind(phase: Phase, id: TaskId) -> Place {
    Place::numbered(phase as u64, id)
}

pub(super) fn place(At(task, now): At<'_>) -> Option<Place> {
    task.phase(now).map(|phase| behind(phase, task.id))
}
