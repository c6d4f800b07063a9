//! Rebuilds every index from the rows and compares.

use crate::id::QueueId;
use crate::index::{Keys, TaskIndex};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub rows: usize,
    /// Empty when all is well.
    pub problems: Vec<String>,
}

/// **Cost:** O(n log n), and as much memory again as the indexes have.
pub fn verify(state: &State) -> Report {
    let mut problems = Vec::new();
    let mut rebuilt: BTreeMap<QueueId, TaskIndex<u64>> = BTreeMap::new();
    for task in state.tasks() {
        let index = rebuilt.entry(task.queue).or_default();
        index.update(task.id.get(), &Keys::NONE, &Keys::of(task, state.horizon()));
        if task.id > state.counters.task_id {
            problems.push(format!("task {} is above the last id given out", task.id));
        }
        let known = state.queues.get(task.queue.0 as usize);
        if known.is_none_or(|queue| task.spec.seq > queue.last_seq) {
            problems.push(format!("task {} is above the last sequence number", task.id));
        }
    }
    for (position, queue) in state.queues.iter().enumerate() {
        let expected = rebuilt.remove(&QueueId(position as u32)).unwrap_or_default();
        let actual = queue.tasks.map(|handle| state.task_at(*handle).id.get());
        for (name, same) in actual.compare(&expected) {
            if !same {
                problems.push(format!("queue {:?}: index {name} differs", queue.name.as_str()));
            }
        }
        let kept = queue.kept_keys.iter().map(|(key, kept)| (kept.until, key.clone()));
        if !kept.collect::<BTreeSet<_>>().iter().eq(&queue.kept_until) {
            problems.push(format!("queue {:?}: kept keys differ", queue.name.as_str()));
        }
    }
    let gone = state.leases.iter().map(|(name, row)| (row.gone_at(), name.clone()));
    if !gone.collect::<BTreeSet<_>>().iter().eq(&state.leases_gone) {
        problems.push("the removal times of leases differ".to_owned());
    }
    let rows = state.tasks().len() + state.leases.len() + state.values.len();
    Report { rows, problems }
}
