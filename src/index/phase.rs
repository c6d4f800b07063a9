//! What users see, by state and id: pages of lists and counts. Dead letters are a stretch of it.

use super::At;
use crate::id::TaskId;
use crate::task::Phase;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PhaseKey {
    pub phase: Phase,
    pub id: TaskId,
}

impl PhaseKey {
    /// Before the first row of a state.
    pub fn start(phase: Phase) -> Self {
        Self { phase, id: TaskId::default() }
    }
}

pub fn key(At(task, now): At<'_>) -> Option<PhaseKey> {
    task.phase(now).map(|phase| PhaseKey { phase, id: task.id })
}
