//! What must hold for a command to count: a claim, a lease, the version of a key.
//!
//! Ownership is asked for on the very state that the commit is merged into. A guard that does not
//! hold is a refusal, and the command leaves nothing behind.

use crate::error::{FailedCheck, Outcome, Refusal};
use crate::id::{TaskId, Token, Version};
use crate::name::NameRef;
use crate::task::Task;
use crate::txn::Txn;

/// The task, if `token` is its current claim.
pub fn claim(txn: &Txn<'_>, queue: NameRef<'_>, id: TaskId, token: Token) -> Outcome<Task> {
    let task = txn.task_of(queue, id).ok_or(Refusal::Gone)?;
    task.require_claim(token, txn.now)?;
    Ok(task.clone())
}

/// Whether `token` is the current, running grant of the lease.
pub fn lease(txn: &Txn<'_>, name: NameRef<'_>, token: Token) -> Outcome<()> {
    txn.lease(name).ok_or(Refusal::Gone)?.require_held(token, txn.now)
}

/// Whether a key had this version before the command; `None`: whether it did not exist.
pub fn check(
    txn: &Txn<'_>,
    key: NameRef<'_>,
    expected: Option<Version>,
) -> Result<(), FailedCheck> {
    let actual = txn.version_before(key.as_str());
    match actual == expected {
        true => Ok(()),
        false => Err(FailedCheck { key: key.to_name(), expected, actual }),
    }
}
