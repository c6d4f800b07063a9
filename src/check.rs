//! Rebuilds every index from the rows and compares.

use crate::index::{Places, TaskIndex};
use crate::state::State;

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
    let mut rebuilt: Vec<_> = state.queues.iter().map(|_| TaskIndex::default()).collect();
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
        if !queue.kept_until_is_sound() {
            problems.push(format!("queue {:?}: kept keys differ", queue.name.as_str()));
        }
        if queue.outlook != queue.outlook(state.horizon()) {
            problems.push(format!("queue {:?}: what time changes differs", queue.name.as_str()));
        }
    }
    let gone = state.leases.iter().map(|(name, row)| (row.gone_place(), name.clone()));
    if state.leases_gone != gone.collect() {
        problems.push("the removal times of leases differ".to_owned());
    }
    if !state.timetable.is_sound() {
        problems.push("the next boundaries of schedules differ".to_owned());
    }
    let tables = state.leases.len() + state.values.len() + state.timetable.rows().len();
    let rows = state.tasks().len() + tables;
    Report { rows, problems }
}
