//! Claim: hand out the next tasks in order.
//!
//! In one commit for the whole batch: bury what expired or lapsed for good, then serve. Rows that
//! are ready by time alone were moved there before (`State::advance`), so the order is right at
//! once.
//!
//! **Cost:** O(log n) per served or buried task, whatever waits besides.

use super::page::fitting;
use super::sweep;
use crate::error::Error;
use crate::id::{Millis, TaskId};
use crate::limits::{PAGE_ITEMS_MAX, SWEEP_ROWS_MAX};
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

#[derive(Clone, Copy, Debug)]
pub struct ClaimRequest<'a> {
    pub queue: NameRef<'a>,
    pub owner: NameRef<'a>,
    /// At most so many; cut to 1 000, and to what a page holds in bytes. 0 claims nothing and
    /// touches nothing.
    pub max: usize,
    /// How long the claims last; `None`: as each task's own stamp says.
    pub lease: Option<Millis>,
}

/// The claimed tasks, in the order in which they are to run.
pub type Claimed = Vec<Task>;

/// # Errors
/// `PERMISSION_DENIED`; `LIMIT_EXCEEDED` when the tokens are used up.
pub fn claim(txn: &mut Txn<'_>, request: ClaimRequest<'_>) -> Result<Claimed, Error> {
    txn.require(Right::Claim, Realm::Queue, request.queue)?;
    let Some(queue) = txn.queue_id(request.queue) else {
        return Ok(Vec::new());
    };
    if request.max == 0 || txn.is_paused(queue) {
        return Ok(Vec::new());
    }
    sweep::bury(txn, queue, SWEEP_ROWS_MAX);
    let mut ready = txn.first_ready(queue, request.max.min(PAGE_ITEMS_MAX));
    ready.truncate(fitting(ready.iter().filter_map(|(_, id)| txn.task(*id)).map(Task::bytes)));
    let owner = request.owner.to_name();
    let mut serve = |id: TaskId| {
        let token = txn.take_token()?;
        let task = txn.task(id).expect("the index names rows that exist").clone();
        let lease = request.lease.unwrap_or(task.spec.stamps.lease);
        let row = task.claimed(owner.clone(), token, lease, txn.now);
        let claimed = Task { row, ..task };
        txn.put_row(claimed.clone());
        Ok(claimed)
    };
    let claimed = ready.iter().map(|(_, id)| serve(*id)).collect::<Result<_, _>>()?;
    if let Some((last, _)) = ready.last() {
        txn.staged.raise_ready_floor(queue, *last);
    }
    Ok(claimed)
}
