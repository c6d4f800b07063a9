//! Purge: remove dead and done tasks by hand.

use crate::change::{KeptKey, Removal};
use crate::error::Error;
use crate::id::{QueueId, TaskId};
use crate::index::{Order, phase};
use crate::limits::SWEEP_ROWS_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::{Phase, Task, TaskState};
use crate::txn::Txn;
use std::ops::Bound;

/// Which tasks to remove.
#[derive(Clone, Debug)]
pub struct Purge<'a> {
    pub queue: NameRef<'a>,
    /// `None`: dead and done ones.
    pub phase: Option<Phase>,
    /// `None`: all.
    pub ids: Option<Vec<TaskId>>,
}

/// What one commit of it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    pub count: usize,
    /// Whether others are left that were asked for.
    pub more: bool,
}

/// One commit's worth.
///
/// # Errors
/// `INVALID_ARGUMENT` for a state that is not settled, `PERMISSION_DENIED`.
pub fn purge(txn: &mut Txn<'_>, request: Purge<'_>) -> Result<Purged, Error> {
    let phases = match request.phase {
        None => vec![Phase::Done, Phase::Dead],
        Some(phase @ (Phase::Done | Phase::Dead)) => vec![phase],
        Some(phase) => {
            return Err(Error::InvalidArgument {
                argument: "state",
                expected: "\"dead\" or \"done\"",
                got: phase.as_str().to_owned(),
            });
        }
    };
    txn.require(Right::Manage, Realm::Queue, request.queue)?;
    let Some(queue) = txn.queue_id(request.queue) else {
        return Ok(Purged::default());
    };
    let mut ids = match request.ids {
        Some(ids) => of_phases(txn, queue, ids, &phases),
        None => {
            let first = |phase: &Phase| first_of(txn, queue, *phase, TaskId::default());
            phases.iter().flat_map(first).collect()
        }
    };
    let more = ids.len() > SWEEP_ROWS_MAX;
    ids.truncate(SWEEP_ROWS_MAX);
    for id in &ids {
        discard(txn, *id, queue);
    }
    Ok(Purged { count: ids.len(), more })
}

/// The named tasks that are in one of the states, each once.
pub(super) fn of_phases(
    txn: &Txn<'_>,
    queue: QueueId,
    mut ids: Vec<TaskId>,
    phases: &[Phase],
) -> Vec<TaskId> {
    ids.sort_unstable();
    ids.dedup();
    let phase_of = |id| txn.task(id).filter(|task| task.queue == queue)?.phase(txn.now);
    ids.retain(|id| phase_of(*id).is_some_and(|phase| phases.contains(&phase)));
    ids
}

/// The lowest ids in a state behind one: one commit's worth, and one more if there is one.
pub(super) fn first_of(
    txn: &mut Txn<'_>,
    queue: QueueId,
    phase: Phase,
    after: TaskId,
) -> Vec<TaskId> {
    let start = Bound::Excluded(phase::behind(phase, after));
    let found = txn.first(Order::Phases, queue, start, SWEEP_ROWS_MAX + 1);
    found
        .into_iter()
        .take_while(|(place, _)| place.rank == phase as u64)
        .map(|(_, id)| id)
        .collect()
}

/// Removes a row and frees its key.
fn discard(txn: &mut Txn<'_>, id: TaskId, queue: QueueId) {
    txn.remove_task(id, queue, Removal::Purged);
}

/// Removes a row past its retention. The key of a completed task may be kept longer than the task.
pub(super) fn remove(txn: &mut Txn<'_>, id: TaskId, removal: Removal, queue: QueueId) {
    let task = txn.task(id).expect("the index names rows that exist").clone();
    txn.remove_task(id, queue, removal);
    if let TaskState::Done { at } = task.row.state {
        keep_key(txn, &task, at);
    }
}

/// Keeps the key that a task completed at `at` held, while its retention lasts.
pub(super) fn keep_key(txn: &mut Txn<'_>, task: &Task, at: crate::id::Instant) {
    let until = at.after(task.spec.stamps.key_retention);
    if let Some(key) = task.held_key().filter(|_| until > txn.now) {
        let kept = KeptKey { id: task.id, seq: task.spec.seq, until };
        txn.keep_key(task.queue, key.clone(), kept);
    }
}
