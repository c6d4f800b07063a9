//! Redrive: dead tasks get another life, in their old place, with all their attempts.

use super::purge::{first_of, of_phases};
use crate::error::Error;
use crate::id::TaskId;
use crate::limits::SWEEP_ROWS_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::{Phase, Task};
use crate::txn::Txn;

/// Which dead tasks to bring back.
#[derive(Clone, Debug)]
pub struct Redrive<'a> {
    pub queue: NameRef<'a>,
    /// `None`: all, the lowest ids first.
    pub ids: Option<Vec<TaskId>>,
    /// Those behind this one only: where an earlier commit ended.
    pub after: TaskId,
    /// At most so many.
    pub limit: usize,
}

/// What one commit of it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    pub count: usize,
    /// The highest id.
    pub last: TaskId,
    /// Whether others are left that were asked for.
    pub more: bool,
}

/// One commit's worth.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn redrive(txn: &mut Txn<'_>, request: Redrive<'_>) -> Result<Redriven, Error> {
    txn.require(Right::Manage, Realm::Queue, request.queue)?;
    let Some(queue) = txn.queue_id(request.queue) else {
        return Ok(Redriven::default());
    };
    let mut ids = match request.ids {
        Some(ids) => of_phases(txn, queue, ids, &[Phase::Dead]),
        None => first_of(txn, queue, Phase::Dead, request.after),
    };
    ids.retain(|id| *id > request.after);
    let max = request.limit.min(SWEEP_ROWS_MAX);
    let more = ids.len() > max;
    ids.truncate(max);
    for id in &ids {
        let task = txn.task(*id).expect("the index names rows that exist").clone();
        txn.put_row(Task { row: task.redriven(txn.now), ..task });
    }
    let last = ids.last().copied().unwrap_or(request.after);
    Ok(Redriven { count: ids.len(), last, more })
}
