//! Heartbeat: still working. Moves the deadline, and keeps what the owner wants to tell.

use super::{ClaimRef, write};
use crate::blob::Blob;
use crate::error::{Error, Outcome};
use crate::guard;
use crate::id::{Instant, Millis};
use crate::limits::NOTE_BYTES_MAX;
use crate::rights::{Realm, Right};
use crate::task::Task;
use crate::txn::Txn;

#[derive(Clone, Debug)]
pub struct Heartbeat<'a> {
    pub claim: ClaimRef<'a>,
    /// The new deadline is so long from now, more than 0; `None`: the claim's own length.
    pub extend: Option<Millis>,
    /// `None` leaves it.
    pub progress: Option<Blob>,
}

/// The new deadline.
///
/// # Errors
/// `INVALID_ARGUMENT`, `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`.
pub fn heartbeat(txn: &mut Txn<'_>, request: Heartbeat<'_>) -> Result<Outcome<Instant>, Error> {
    if request.extend == Some(Millis::ZERO) {
        return Err(Error::InvalidArgument {
            argument: "extend",
            expected: "a whole number of milliseconds from 1 on",
            got: "0".to_owned(),
        });
    }
    if let Some(progress) = &request.progress {
        write::require_size("progress", progress.len(), NOTE_BYTES_MAX)?;
    }
    let claim = request.claim;
    txn.require(Right::Settle, Realm::Queue, claim.queue)?;
    let task = match guard::claim(txn, claim.queue, claim.id, claim.token) {
        Ok(task) => task,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let held = task.claim().expect("the guard held");
    let extend = request.extend.unwrap_or(held.lease);
    let row = task.extended(held, extend, txn.now);
    let extended = Task { row, ..task };
    txn.put_row(extended.clone());
    if request.progress.is_some() {
        txn.put_progress(Task { progress: request.progress, ..extended });
    }
    Ok(Ok(txn.now.after(extend)))
}
