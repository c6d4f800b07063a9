//! The last commit of each replica, so that one whose outcome is unknown can be found even after
//! the entry was compacted away.
//!
//! **Invariant:** bounded: the replica that was silent longest is forgotten first.

use crate::change::CommitId;
use crate::id::Slot;
use crate::limits::REPLICAS_MAX;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicas(BTreeMap<u64, Last>);

/// A replica's newest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    counter: u64,
    slot: Slot,
}

impl Replicas {
    pub fn record(&mut self, commit: CommitId, slot: Slot) {
        self.0.insert(commit.replica, Last { counter: commit.counter, slot });
        if self.0.len() > REPLICAS_MAX {
            let silent = self.0.iter().min_by_key(|(_, last)| last.slot).map(|(id, _)| *id);
            self.0.remove(&silent.expect("there are more than the limit"));
        }
    }

    /// The counter of a replica's newest commit, 0 when none is known.
    pub fn last_of(&self, replica: u64) -> u64 {
        self.0.get(&replica).map_or(0, |last| last.counter)
    }

    /// Whether `commit` is in the log. A replica commits one at a time, so a later one says so too.
    pub fn holds(&self, commit: CommitId) -> bool {
        self.0.get(&commit.replica).is_some_and(|last| last.counter >= commit.counter)
    }
}
