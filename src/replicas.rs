//! The last commit of each replica, so that one whose outcome is unknown can be found even after
//! the entry was compacted away.
//!
//! **Invariant:** bounded: the replica that was silent longest is forgotten first.

use crate::change::CommitId;
use crate::id::Slot;
use crate::limits::REPLICAS_MAX;

/// The newest commit of each with the slot it is in, in the order of the replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replicas(Vec<(CommitId, Slot)>);

impl From<Vec<(CommitId, Slot)>> for Replicas {
    fn from(commits: Vec<(CommitId, Slot)>) -> Self {
        Self(commits)
    }
}

impl Replicas {
    pub fn commits(&self) -> &[(CommitId, Slot)] {
        &self.0
    }

    pub fn record(&mut self, commit: CommitId, slot: Slot) {
        match self.position(commit.replica) {
            Ok(position) => self.0[position] = (commit, slot),
            Err(position) => self.0.insert(position, (commit, slot)),
        }
        if self.0.len() > REPLICAS_MAX {
            let silent = self.0.iter().enumerate().min_by_key(|(_, (_, slot))| *slot);
            let (position, _) = silent.expect("there are more than the limit");
            self.0.remove(position);
        }
    }

    fn position(&self, replica: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&replica, |(commit, _)| commit.replica)
    }

    /// Whether each stands where it is looked for.
    pub fn is_sound(&self) -> bool {
        self.0.is_sorted_by(|(one, _), (other, _)| one.replica < other.replica)
    }

    /// The counter of a replica's newest commit, 0 when none is known.
    pub fn last_of(&self, replica: u64) -> u64 {
        self.position(replica).map_or(0, |position| self.0[position].0.counter)
    }

    /// Whether `commit` is in the log. A replica commits one at a time, so a later one says so too.
    pub fn holds(&self, commit: CommitId) -> bool {
        let position = self.position(commit.replica);
        position.is_ok_and(|position| self.0[position].0.counter >= commit.counter)
    }
}
