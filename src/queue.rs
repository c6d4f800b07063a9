//! One queue of a state, and when time alone next changes something about it.

use crate::change::KeptKey;
use crate::id::{Instant, Seq};
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
    pub kept_until: BTreeMap<Place, Name>,
    /// Its place in the state's agenda.
    pub next_due: Option<Instant>,
    /// Whether the state counts it among the overdue.
    pub is_overdue: bool,
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
            next_due: None,
            is_overdue: false,
        }
    }

    /// Whether a sweep would find something at `horizon`.
    pub fn is_overdue(&self, horizon: Instant) -> bool {
        let purged = self.tasks.first(Order::Retention).map(|(place, _)| place.at);
        let freed = self.kept_until.first_key_value().map(|(place, _)| place.at);
        self.tasks.first(Order::Doomed).is_some()
            || purged.into_iter().chain(freed).any(|at| at <= horizon)
    }

    /// The first instant after `horizon` at which its indexes change, or a kept key is to be freed.
    pub fn next_due_after(&self, horizon: Instant) -> Option<Instant> {
        let beyond = (Bound::Excluded(Place::last(horizon)), Bound::Unbounded);
        let kept = self.kept_until.range(beyond).next().map(|(place, _)| place.at);
        let kept = kept.filter(|until| *until < Instant::NEVER);
        self.tasks.next_due(horizon).into_iter().chain(kept).min()
    }

    pub fn keep_key(&mut self, key: Name, kept: KeptKey) {
        if let Some(former) = self.kept_keys.insert(key.clone(), kept) {
            self.kept_until.remove(&former.place());
        }
        self.kept_until.insert(kept.place(), key);
    }

    /// By the end of their retention.
    pub fn kept_keys(&self) -> impl ExactSizeIterator<Item = (&Name, &KeptKey)> {
        self.kept_until
            .values()
            .map(|key| (key, self.kept_keys.get(key.as_str()).expect("an indexed key is kept")))
    }

    pub fn free_key(&mut self, key: &Name) {
        if let Some(kept) = self.kept_keys.remove(key.as_str()) {
            self.kept_until.remove(&kept.place());
        }
    }
}
