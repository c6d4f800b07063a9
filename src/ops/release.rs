//! Release: give a claim back un-run. Its place in the order stays, the attempt is not counted.

use super::ClaimRef;
use crate::error::{Error, Outcome};
use crate::guard;
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

/// # Errors
/// `PERMISSION_DENIED`.
pub fn release(txn: &mut Txn<'_>, claim: ClaimRef<'_>) -> Result<Outcome<()>, Error> {
    txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    Ok(guard::claim(txn, claim.queue, claim.id, claim.token).map(|task| {
        txn.put_row(Task { row: task.released(txn.now), ..task });
    }))
}
