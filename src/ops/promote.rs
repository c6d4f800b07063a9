//! Promote and reschedule: waiting tasks get another due time by hand.

use super::purge::of_phases;
use crate::error::Error;
use crate::id::{Instant, TaskId};
use crate::limits::BATCH_ITEMS_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::{Phase, Task, TaskState};
use crate::txn::Txn;

/// Makes due now what is due later, delayed or in backoff; how many of the tasks that were.
///
/// # Errors
/// `PERMISSION_DENIED`, `LIMIT_EXCEEDED` for more than 10 000.
pub fn promote(txn: &mut Txn<'_>, queue: NameRef<'_>, ids: Vec<TaskId>) -> Result<usize, Error> {
    if ids.len() > BATCH_ITEMS_MAX {
        let (size, limit) = (ids.len() as u64, BATCH_ITEMS_MAX as u64);
        return Err(Error::LimitExceeded { what: "ids", size, limit });
    }
    txn.require(Right::Manage, Realm::Queue, queue)?;
    let Some(queue) = txn.queue_id(queue) else {
        return Ok(0);
    };
    let ids = of_phases(txn, queue, ids, &[Phase::Scheduled]);
    for id in &ids {
        put_off(txn, *id, txn.now);
    }
    Ok(ids.len())
}

/// Whether the task waits, and is due at `run_at` now.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn reschedule(
    txn: &mut Txn<'_>,
    queue: NameRef<'_>,
    id: TaskId,
    run_at: Instant,
) -> Result<bool, Error> {
    txn.require(Right::Manage, Realm::Queue, queue)?;
    let found = txn.task_of(queue, id);
    let waits = found.is_some_and(|task| task.row.state == TaskState::Waiting);
    if waits {
        put_off(txn, id, run_at);
    }
    Ok(waits)
}

fn put_off(txn: &mut Txn<'_>, id: TaskId, run_at: Instant) {
    let task = txn.task(id).expect("it was found").clone();
    if task.row.run_at != run_at {
        txn.put_row(Task { row: task.put_off(run_at, txn.now), ..task });
    }
}
