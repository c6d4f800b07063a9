//! Pause and resume: whether claims are served. Holders carry on, enqueues work.

use crate::error::Error;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::txn::Txn;

/// # Errors
/// `PERMISSION_DENIED`.
pub fn set_paused(txn: &mut Txn<'_>, name: NameRef<'_>, paused: bool) -> Result<(), Error> {
    txn.require(Right::Manage, Realm::Queue, name)?;
    let known = txn.queue_id(name);
    if known.is_some_and(|queue| txn.is_paused(queue)) != paused {
        let queue = txn.queue_or_new(name);
        txn.set_paused(queue, paused);
    }
    Ok(())
}
