//! Why tasks went away that nobody could have seen dead or done: for whoever waits for one of them.
//!
//! **Invariant:** bounded, and no part of the rows. A replica that starts from a snapshot knows
//! nothing of what was before it, and what is long past is forgotten.

use crate::change::Removal;
use crate::id::TaskId;
use crate::limits::REMOVALS_MAX;
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Removals(VecDeque<(TaskId, Removal)>);

impl Removals {
    /// Notes a removal, if it is one that leaves no other trace.
    pub fn note(&mut self, id: TaskId, removal: Removal) {
        if !matches!(removal, Removal::Cancelled { .. } | Removal::Buried { .. }) {
            return;
        }
        if self.0.len() == REMOVALS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, removal));
    }

    /// **Cost:** O(n) of what is remembered.
    pub fn of(&self, id: TaskId) -> Option<&Removal> {
        self.0.iter().rev().find(|(removed, _)| *removed == id).map(|(_, removal)| removal)
    }
}
