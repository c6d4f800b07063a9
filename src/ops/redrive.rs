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
    /// At most so many.
    pub limit: usize,
}

/// One commit's worth; the answer of 1 000 asks for another call.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn redrive(txn: &mut Txn<'_>, request: Redrive<'_>) -> Result<usize, Error> {
    txn.require(Right::Manage, Realm::Queue, request.queue)?;
    let Some(queue) = txn.queue_id(request.queue) else {
        return Ok(0);
    };
    let mut ids = match request.ids {
        Some(ids) => of_phases(txn, queue, ids, &[Phase::Dead]),
        None => first_of(txn, queue, Phase::Dead),
    };
    ids.truncate(request.limit.min(SWEEP_ROWS_MAX));
    for id in &ids {
        let task = txn.task(*id).expect("the index names rows that exist").clone();
        txn.put_row(Task { row: task.redriven(txn.now), ..task });
    }
    Ok(ids.len())
}
