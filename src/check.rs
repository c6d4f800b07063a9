//! Whether every index is what the rows make it.

use crate::index::{Places, Tally};
use crate::lease::LeaseRow;
use crate::state::State;
use crate::usage::Usage;

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub rows: usize,
    /// Empty when all is well.
    pub problems: Vec<String>,
}

fn weigh(state: &State) -> Usage {
    let mut usage = Usage::default();
    state.tasks().for_each(|task| usage.task(task, true));
    for queue in &state.queues {
        usage.queue(&queue.name);
        queue.kept_keys().for_each(|(key, _)| usage.kept_key(key, true));
    }
    state.leases.iter().for_each(|(name, row)| usage.lease(name, row, true));
    state.values.iter().for_each(|(key, row)| usage.value(key, row, true));
    state.timetable.rows().iter().for_each(|(name, row)| usage.schedule(name, row, true));
    usage
}

/// **Cost:** O(n log n), and no memory to speak of.
pub fn verify(state: &State) -> Report {
    let mut problems = Vec::new();
    let mut tallies: Vec<_> = state.queues.iter().map(|_| Tally::default()).collect();
    for task in state.tasks() {
        let (index, tally) = (state.queue(task.queue), &mut tallies[task.queue.0 as usize]);
        index.tasks.count_in(tally, task, &Places::of(task, state.horizon()));
        if task.id > state.counters.task_id {
            problems.push(format!("task {} is above the last id given out", task.id));
        }
        let known = state.queues.get(task.queue.0 as usize);
        if known.is_none_or(|queue| task.spec.seq > queue.last_seq) {
            problems.push(format!("task {} is above the last sequence number", task.id));
        }
    }
    for (position, queue) in state.queues.iter().enumerate() {
        for (name, same) in queue.tasks.compare(&tallies[position]) {
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
    let is_gone =
        |(name, row): (&_, &LeaseRow)| state.leases_gone.get(row.gone_place()) == Some(name);
    if state.leases_gone.len() != state.leases.len() || !state.leases.iter().all(is_gone) {
        problems.push("the removal times of leases differ".to_owned());
    }
    if state.usage != weigh(state) {
        problems.push("what the rows weigh differs".to_owned());
    }
    if !state.timetable.is_sound() {
        problems.push("the next boundaries of schedules differ".to_owned());
    }
    let tables = state.leases.len() + state.values.len() + state.timetable.rows().len();
    let rows = state.tasks().len() + tables;
    Report { rows, problems }
}
