//! The last commit of each replica, so that one whose outcome is unknown can be found even after
//! the entry was compacted away.
//!
//! **Invariant:** bounded: the replica that was silent longest is forgotten first.

use crate::change::CommitId;
use crate::id::Slot;
use crate::limits::REPLICAS_MAX;
use serde::{Deserialize, Serialize};

/// In the order of the replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicas(Vec<(u64, Last)>);

/// A replica's newest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    counter: u64,
    slot: Slot,
}

impl Replicas {
    pub fn record(&mut self, commit: CommitId, slot: Slot) {
        let last = Last { counter: commit.counter, slot };
        match self.position(commit.replica) {
            Ok(position) => self.0[position].1 = last,
            Err(position) => self.0.insert(position, (commit.replica, last)),
        }
        if self.0.len() > REPLICAS_MAX {
            let silent = self.0.iter().enumerate().min_by_key(|(_, (_, last))| last.slot);
            let (position, _) = silent.expect("there are more than the limit");
            self.0.remove(position);
        }
    }

    fn position(&self, replica: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&replica, |(id, _)| *id)
    }

    /// Whether each stands where it is looked for.
    pub fn is_sound(&self) -> bool {
        self.0.is_sorted_by(|(one, _), (other, _)| one < other)
    }

    /// The counter of a replica's newest commit, 0 when none is known.
    pub fn last_of(&self, replica: u64) -> u64 {
        self.position(replica).map_or(0, |position| self.0[position].1.counter)
    }

    /// Whether `commit` is in the log. A replica commits one at a time, so a later one says so too.
    pub fn holds(&self, commit: CommitId) -> bool {
        let position = self.position(commit.replica);
        position.is_ok_and(|position| self.0[position].1.counter >= commit.counter)
    }
}
