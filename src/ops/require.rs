//! Guards by themselves, inside a transaction.

use super::ClaimRef;
use crate::error::{Error, Outcome, Refusal};
use crate::guard;
use crate::id::{Token, Version};
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::txn::Txn;

/// What must hold for the whole transaction.
#[derive(Clone, Copy, Debug)]
pub enum Guard<'a> {
    Claim(ClaimRef<'a>),
    Lease {
        name: NameRef<'a>,
        token: Token,
    },
    /// `None`: the key must not exist.
    Version {
        key: NameRef<'a>,
        version: Option<Version>,
    },
}

/// # Errors
/// `PERMISSION_DENIED`.
pub fn require(txn: &mut Txn<'_>, guard: Guard<'_>) -> Result<Outcome<()>, Error> {
    match guard {
        Guard::Claim(claim) => {
            txn.require(Right::Settle, Realm::Queue, claim.queue)?;
            Ok(guard::claim(txn, claim.queue, claim.id, claim.token).map(|_| ()))
        }
        Guard::Lease { name, token } => {
            txn.require(Right::Acquire, Realm::Lease, name)?;
            Ok(guard::lease(txn, name, token))
        }
        Guard::Version { key, version } => {
            txn.require(Right::Read, Realm::Kv, key)?;
            Ok(guard::check(txn, key, version).map_err(Refusal::Changed))
        }
    }
}
