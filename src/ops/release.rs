//! Release: give a claim back un-run. The attempt is not counted. Its place in the order stays,
//! unless it is to wait: then it is due after the delay.

use super::ClaimRef;
use crate::error::{Error, Outcome};
use crate::guard;
use crate::id::Millis;
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

/// # Errors
/// `PERMISSION_DENIED`.
pub fn release(
    txn: &mut Txn<'_>,
    claim: ClaimRef<'_>,
    delay: Option<Millis>,
) -> Result<Outcome<()>, Error> {
    txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    Ok(guard::claim(txn, claim.queue, claim.id, claim.token).map(|task| {
        txn.put_row(Task { row: task.released(delay, txn.now), ..task });
    }))
}
