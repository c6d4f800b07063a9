//! Cancel: remove a task in whatever state. Its key is free at once; the holder's next call is
//! refused.

use super::text;
use crate::change::Removal;
use crate::error::Error;
use crate::id::TaskId;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::txn::Txn;

/// Whether there was such a task.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn cancel(
    txn: &mut Txn<'_>,
    queue: NameRef<'_>,
    id: TaskId,
    reason: Option<&str>,
) -> Result<bool, Error> {
    txn.require(Right::Manage, Realm::Queue, queue)?;
    let Some(task) = txn.task_of(queue, id) else {
        return Ok(false);
    };
    let (id, queue) = (task.id, task.queue);
    let reason = reason.map(text::bounded);
    txn.remove_task(id, queue, Removal::Cancelled { reason });
    Ok(true)
}
