//! The ordered indexes of one queue.
//!
//! Each is a `BTreeMap` from a key to a handle of the row. Membership is a pure function of the row
//! and an instant, the *horizon*: [`TaskIndex::update`] compares the keys before and after and
//! moves what differs. When the horizon advances, [`TaskIndex::due`] names the rows whose keys
//! change with it; that move writes nothing.
//!
//! **Invariant:** every index equals what its `key` function gives for the rows at the horizon. No
//! other code changes an index. The order of a key's fields is the order of the index.
//!
//! **Cost:** an update touches the indexes whose key differs, O(log n) each.

mod doomed;
mod expiry;
mod inflight;
mod key;
mod phase;
mod ready;
mod retention;
mod scheduled;

pub use doomed::DoomedKey;
pub use expiry::ExpiryKey;
pub use inflight::InflightKey;
pub use phase::PhaseKey;
pub use ready::ReadyKey;
pub use retention::RetentionKey;
pub use scheduled::ScheduledKey;

use crate::id::{Instant, TaskId};
use crate::name::Name;
use crate::task::{Phase, Task};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The indexes over the tasks of one queue; `H` finds the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskIndex<H> {
    /// Waiting, not due.
    pub scheduled: BTreeMap<ScheduledKey, H>,
    /// To be claimed next: due, or lapsed with attempts left.
    pub ready: BTreeMap<ReadyKey, H>,
    /// Claims that run.
    pub inflight: BTreeMap<InflightKey, H>,
    /// What expires later.
    pub expiry: BTreeMap<ExpiryKey, H>,
    /// To be buried by the next claim or sweep.
    pub doomed: BTreeMap<DoomedKey, H>,
    /// Done and dead rows, by the end of their retention.
    pub retention: BTreeMap<RetentionKey, H>,
    /// Everything that users see, by state and id.
    pub phases: BTreeMap<PhaseKey, H>,
    /// Taken idempotency keys.
    pub keys: BTreeMap<Name, H>,
    counts: [usize; Phase::ALL.len()],
}

impl<H> Default for TaskIndex<H> {
    fn default() -> Self {
        Self {
            scheduled: BTreeMap::new(),
            ready: BTreeMap::new(),
            inflight: BTreeMap::new(),
            expiry: BTreeMap::new(),
            doomed: BTreeMap::new(),
            retention: BTreeMap::new(),
            phases: BTreeMap::new(),
            keys: BTreeMap::new(),
            counts: [0; Phase::ALL.len()],
        }
    }
}

/// One of the ordered indexes, for code that serves several of them.
pub trait Order {
    type Key: Ord + Copy;
    fn of<H>(index: &TaskIndex<H>) -> &BTreeMap<Self::Key, H>;
}

/// The order in which claims serve.
pub enum Ready {}
/// The order in which claims and sweeps bury.
pub enum Doomed {}
/// The order in which sweeps purge.
pub enum Retention {}
/// State and id.
pub enum ByPhase {}

impl Order for Ready {
    type Key = ReadyKey;
    fn of<H>(index: &TaskIndex<H>) -> &BTreeMap<ReadyKey, H> {
        &index.ready
    }
}

impl Order for Doomed {
    type Key = DoomedKey;
    fn of<H>(index: &TaskIndex<H>) -> &BTreeMap<DoomedKey, H> {
        &index.doomed
    }
}

impl Order for Retention {
    type Key = RetentionKey;
    fn of<H>(index: &TaskIndex<H>) -> &BTreeMap<RetentionKey, H> {
        &index.retention
    }
}

impl Order for ByPhase {
    type Key = PhaseKey;
    fn of<H>(index: &TaskIndex<H>) -> &BTreeMap<PhaseKey, H> {
        &index.phases
    }
}

/// A row as it stands in the indexes: with the horizon they are right for.
#[derive(Clone, Copy)]
struct At<'a>(&'a Task, Instant);

/// Where a row stands in each index.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    scheduled: Option<ScheduledKey>,
    ready: Option<ReadyKey>,
    inflight: Option<InflightKey>,
    expiry: Option<ExpiryKey>,
    doomed: Option<DoomedKey>,
    retention: Option<RetentionKey>,
    phase: Option<PhaseKey>,
    key: Option<Name>,
}

impl Keys {
    /// A row that is nowhere.
    pub const NONE: Self = Self {
        scheduled: None,
        ready: None,
        inflight: None,
        expiry: None,
        doomed: None,
        retention: None,
        phase: None,
        key: None,
    };

    pub fn of(task: &Task, horizon: Instant) -> Self {
        let at = At(task, horizon);
        Self {
            scheduled: scheduled::key(at),
            ready: ready::key(at),
            inflight: inflight::key(at),
            expiry: expiry::key(at),
            doomed: doomed::key(at),
            retention: retention::key(at),
            phase: phase::key(at),
            key: key::key(at).cloned(),
        }
    }
}

impl<H: Copy + Ord> TaskIndex<H> {
    /// Moves one row from where it stood to where it stands.
    pub fn update(&mut self, handle: H, before: &Keys, after: &Keys) {
        fn shift<K: Ord + Copy, H>(
            map: &mut BTreeMap<K, H>,
            before: Option<K>,
            after: Option<K>,
            handle: H,
        ) {
            if before == after {
                return;
            }
            if let Some(key) = before {
                map.remove(&key);
            }
            if let Some(key) = after {
                map.insert(key, handle);
            }
        }
        shift(&mut self.scheduled, before.scheduled, after.scheduled, handle);
        shift(&mut self.ready, before.ready, after.ready, handle);
        shift(&mut self.inflight, before.inflight, after.inflight, handle);
        shift(&mut self.expiry, before.expiry, after.expiry, handle);
        shift(&mut self.doomed, before.doomed, after.doomed, handle);
        shift(&mut self.retention, before.retention, after.retention, handle);
        shift(&mut self.phases, before.phase, after.phase, handle);
        if let Some(PhaseKey { phase, .. }) = before.phase {
            self.counts[phase as usize] -= 1;
        }
        if let Some(PhaseKey { phase, .. }) = after.phase {
            self.counts[phase as usize] += 1;
        }
        if before.key != after.key {
            self.move_key(handle, before.key.as_ref(), after.key.as_ref());
        }
    }

    fn move_key(&mut self, handle: H, before: Option<&Name>, after: Option<&Name>) {
        if let Some(key) = before {
            // The trap: a newer task may hold the key by now. Only the holder's entry may go.
            if self.keys.get(key) == Some(&handle) {
                self.keys.remove(key);
            }
        }
        if let Some(key) = after {
            self.keys.insert(key.clone(), handle);
        }
    }

    /// How many rows users see in `phase`. **Cost:** O(1).
    pub fn count(&self, phase: Phase) -> usize {
        self.counts[phase as usize]
    }

    /// The first instant at which some row's keys differ from those at `horizon`.
    pub fn next_due(&self, horizon: Instant) -> Option<Instant> {
        let firsts = [
            self.scheduled.keys().next().map(|key| key.run_at),
            self.inflight.keys().next().map(|key| key.lapses_at()),
            self.expiry.keys().next().map(|key| key.expires_at),
            self.retention.range(RetentionKey::beyond(horizon)).next().map(|(key, _)| key.gone_at),
        ];
        firsts.into_iter().flatten().filter(|at| *at < Instant::NEVER).min()
    }

    /// The rows whose keys change when the horizon advances from `from` to `to`, each once.
    pub fn due(&self, from: Instant, to: Instant) -> Vec<H> {
        let mut due: Vec<H> = Vec::new();
        due.extend(self.scheduled.range(..=ScheduledKey::last(to)).map(|(_, handle)| *handle));
        due.extend(self.inflight.range(..InflightKey::first(to)).map(|(_, handle)| *handle));
        due.extend(self.expiry.range(..=ExpiryKey::last(to)).map(|(_, handle)| *handle));
        let retention = RetentionKey::beyond(from).start..=RetentionKey::last(to);
        due.extend(self.retention.range(retention).map(|(_, handle)| *handle));
        due.sort_unstable();
        due.dedup();
        due
    }

    /// The same indexes with other handles.
    pub fn map<G>(&self, to: impl Fn(&H) -> G + Copy) -> TaskIndex<G> {
        fn each<K: Ord + Clone, H, G>(
            map: &BTreeMap<K, H>,
            to: impl Fn(&H) -> G,
        ) -> BTreeMap<K, G> {
            map.iter().map(|(key, handle)| (key.clone(), to(handle))).collect()
        }
        TaskIndex {
            scheduled: each(&self.scheduled, to),
            ready: each(&self.ready, to),
            inflight: each(&self.inflight, to),
            expiry: each(&self.expiry, to),
            doomed: each(&self.doomed, to),
            retention: each(&self.retention, to),
            phases: each(&self.phases, to),
            keys: each(&self.keys, to),
            counts: self.counts,
        }
    }

    /// Each index by name, and whether it is the same in `other`.
    pub fn compare(&self, other: &Self) -> [(&'static str, bool); 9] {
        [
            ("scheduled", self.scheduled == other.scheduled),
            ("ready", self.ready == other.ready),
            ("inflight", self.inflight == other.inflight),
            ("expiry", self.expiry == other.expiry),
            ("doomed", self.doomed == other.doomed),
            ("retention", self.retention == other.retention),
            ("phases", self.phases == other.phases),
            ("keys", self.keys == other.keys),
            ("counts", self.counts == other.counts),
        ]
    }

    /// The handles of a state after an id, in id order.
    pub fn of_phase(&self, phase: Phase, after: TaskId) -> impl Iterator<Item = &H> {
        let range = (Bound::Excluded(PhaseKey { phase, id: after }), Bound::Unbounded);
        let rows = self.phases.range(range);
        rows.take_while(move |(key, _)| key.phase == phase).map(|(_, handle)| handle)
    }

    /// The earliest due time of what is ready. **Cost:** O(log n) per priority in use.
    pub fn oldest_ready(&self) -> Option<Instant> {
        let mut oldest = None;
        let mut next = self.ready.keys().next();
        while let Some(first) = next {
            oldest = oldest.into_iter().chain([first.run_at]).min();
            let rest = (Bound::Excluded(first.last_of_priority()), Bound::Unbounded);
            next = self.ready.range(rest).next().map(|(key, _)| key);
        }
        oldest
    }
}
