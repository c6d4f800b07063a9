//! Abandon: end a claim at once, as if it had lapsed. The attempt stays counted, there is no
//! backoff, and a task without attempts left is buried by the next claim or sweep.

use super::ClaimRef;
use crate::error::{Error, Outcome};
use crate::guard;
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

/// # Errors
/// `PERMISSION_DENIED`.
pub fn abandon(txn: &mut Txn<'_>, claim: ClaimRef<'_>) -> Result<Outcome<()>, Error> {
    txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    Ok(guard::claim(txn, claim.queue, claim.id, claim.token).map(|task| {
        let held = task.claim().expect("the guard held");
        let row = task.lapsed(held, txn.now);
        txn.put_row(Task { row, ..task });
    }))
}
