//! One queue of a state, and when time alone next changes something about it.

use crate::change::KeptKey;
use crate::id::{Instant, Seq, TaskId};
use crate::index::{Order, TaskIndex};
use crate::keys::Keys;
use crate::name::Name;
use crate::place::Place;
use std::collections::BTreeMap;
use std::ops::Bound;

/// One queue: what is known of it, and the indexes of its tasks.
#[derive(Clone, Debug)]
pub struct Queue {
    pub name: Name,
    pub paused: bool,
    pub last_seq: Seq,
    pub tasks: TaskIndex,
    pub kept_keys: Keys<KeptKey>,
    /// The kept keys by the end of their retention.
    /// What stands there for a task's id is a row of `kept_keys`.
    kept_until: BTreeMap<Place, TaskId>,
    /// As the state's agenda has it.
    pub outlook: Outlook,
}

/// What time alone changes about a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Whether a sweep would find something.
    pub is_overdue: bool,
    /// The next instant at which its indexes change, or a kept key is to be freed.
    pub next_due: Option<Instant>,
}

impl Queue {
    pub fn new(name: Name) -> Self {
        Self {
            name,
            paused: false,
            last_seq: Seq::default(),
            tasks: TaskIndex::default(),
            kept_keys: Keys::default(),
            kept_until: BTreeMap::new(),
            outlook: Outlook::default(),
        }
    }

    /// What time alone changes, as of `horizon`.
    pub fn outlook(&self, horizon: Instant) -> Outlook {
        let purged = self.tasks.first(Order::Retention).map(|(place, _)| place.at);
        let freed = self.kept_until.first_key_value().map(|(place, _)| place.at);
        let freed_next = match freed {
            Some(at) if at <= horizon => {
                let beyond = (Bound::Excluded(Place::last(horizon)), Bound::Unbounded);
                self.kept_until.range(beyond).next().map(|(place, _)| place.at)
            }
            _ => freed,
        };
        let freed_next = freed_next.filter(|at| *at < Instant::NEVER);
        Outlook {
            is_overdue: self.tasks.first(Order::Doomed).is_some()
                || purged.into_iter().chain(freed).any(|at| at <= horizon),
            next_due: self.tasks.next_due(horizon).into_iter().chain(freed_next).min(),
        }
    }

    pub fn keep_key(&mut self, key: Name, kept: KeptKey) {
        let (row, former) = self.kept_keys.put(key, kept);
        if let Some(former) = former {
            self.kept_until.remove(&former.place());
        }
        self.kept_until.insert(kept.place(), TaskId::saturating(row.into()));
    }

    /// By the end of their retention.
    pub fn kept_keys(&self) -> impl ExactSizeIterator<Item = (&Name, &KeptKey)> {
        self.kept_until.values().map(|row| self.kept_keys.at(row.get() as u32))
    }

    /// Those behind a place.
    pub fn kept_keys_after(&self, after: Option<Place>) -> impl Iterator<Item = &(Name, KeptKey)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.kept_until.range((start, Bound::Unbounded));
        rows.map(|(_, row)| self.kept_keys.row_at(row.get() as u32))
    }

    pub fn free_key(&mut self, key: &Name) {
        if let Some(kept) = self.kept_keys.remove(key.as_str()) {
            self.kept_until.remove(&kept.place());
        }
    }

    /// Whether the order of the kept keys is theirs.
    pub fn kept_until_is_sound(&self) -> bool {
        let stands = |(place, (_, kept)): (&Place, (&Name, &KeptKey))| *place == kept.place();
        self.kept_until.len() == self.kept_keys.iter().len()
            && self.kept_until.keys().zip(self.kept_keys()).all(stands)
    }
}
