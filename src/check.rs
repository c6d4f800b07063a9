//! Rebuilds every index from the rows and compares.

use crate::index::{Places, TaskIndex};
use crate::name::Name;
use crate::place::Place;
use crate::state::State;
use std::collections::BTreeMap;

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
    let mut rebuilt = vec![TaskIndex::default(); state.queues.len()];
    for task in state.tasks() {
        let index = &mut rebuilt[task.queue.0 as usize];
        index.update(task, &Places::NONE, &Places::of(task, state.horizon()));
        if task.id > state.counters.task_id {
            problems.push(format!("task {} is above the last id given out", task.id));
        }
        let known = state.queues.get(task.queue.0 as usize);
        if known.is_none_or(|queue| task.spec.seq > queue.last_seq) {
            problems.push(format!("task {} is above the last sequence number", task.id));
        }
    }
    for (position, queue) in state.queues.iter().enumerate() {
        let expected = &rebuilt[position];
        for (name, same) in queue.tasks.compare(expected) {
            if !same {
                problems.push(format!("queue {:?}: index {name} differs", queue.name.as_str()));
            }
        }
        let kept = queue.kept_keys.iter().map(|(key, kept)| (kept.place(), key));
        if !is_index(&queue.kept_until, kept) {
            problems.push(format!("queue {:?}: kept keys differ", queue.name.as_str()));
        }
    }
    let gone = state.leases.iter().map(|(name, row)| (row.gone_place(), name));
    if !is_index(&state.leases_gone, gone) {
        problems.push("the removal times of leases differ".to_owned());
    }
    if !state.timetable.is_sound() {
        problems.push("the next boundaries of schedules differ".to_owned());
    }
    let tables = state.leases.len() + state.values.len() + state.timetable.rows().len();
    let rows = state.tasks().len() + tables;
    Report { rows, problems }
}

/// Whether the index holds these, and nothing else.
fn is_index<'a>(
    index: &BTreeMap<Place, Name>,
    expected: impl ExactSizeIterator<Item = (Place, &'a Name)>,
) -> bool {
    index.len() == expected.len()
        && expected.into_iter().all(|(place, name)| index.get(&place) == Some(name))
}
