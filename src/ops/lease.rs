//! The operations on leases.

use super::write::{self, Write};
use crate::blob::Blob;
use crate::error::{Error, Outcome, Refusal};
use crate::guard;
use crate::id::{Instant, Millis, Token};
use crate::lease::{LeaseRow, LeaseState};
use crate::limits::NOTE_BYTES_MAX;
use crate::name::NameRef;
use crate::rights::{Realm, Right};
use crate::txn::Txn;

#[derive(Clone, Debug)]
pub struct Acquire<'a> {
    pub name: NameRef<'a>,
    pub owner: NameRef<'a>,
    /// 0 is legal and ends at once.
    pub ttl: Millis,
    /// `None` leaves what the record has.
    pub meta: Option<Blob>,
}

/// A grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquired {
    pub token: Token,
    pub until: Instant,
    pub acquired_at: Instant,
    pub meta: Option<Blob>,
}

/// Granted when it was never held, was released, ran out, or is held by the same owner.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`, `LIMIT_EXCEEDED` when the tokens are used up.
pub fn acquire(txn: &mut Txn<'_>, request: Acquire<'_>) -> Result<Outcome<Acquired>, Error> {
    require_meta(request.meta.as_ref())?;
    txn.require(Right::Acquire, Realm::Lease, request.name)?;
    let now = txn.now;
    let row = txn.lease(request.name).cloned();
    if let Some(row) = row.as_ref().filter(|row| !row.is_free_for(request.owner.as_str(), now)) {
        let holder = row.holder(now).map(|(owner, until)| (owner.clone(), until));
        let may_tell = txn.may(Right::Inspect, Realm::Lease, request.name);
        return Ok(Err(Refusal::Held(holder.filter(|_| may_tell))));
    }
    let token = txn.take_token()?;
    let meta = request.meta.or_else(|| row.and_then(|row| row.meta));
    let until = now.after(request.ttl);
    let owner = request.owner.to_name();
    let row = LeaseRow {
        token,
        acquired_at: now,
        ttl: request.ttl,
        meta: meta.clone(),
        state: LeaseState::Held { owner, until },
    };
    txn.put_lease(request.name.to_name(), row);
    Ok(Ok(Acquired { token, until, acquired_at: now, meta }))
}

#[derive(Clone, Debug)]
pub struct Renew<'a> {
    pub name: NameRef<'a>,
    pub token: Token,
    /// `None`: as long as the last time.
    pub ttl: Option<Millis>,
    /// `None` leaves it.
    pub meta: Option<Blob>,
}

/// The new end.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`.
pub fn renew(txn: &mut Txn<'_>, request: Renew<'_>) -> Result<Outcome<Instant>, Error> {
    require_meta(request.meta.as_ref())?;
    txn.require(Right::Acquire, Realm::Lease, request.name)?;
    let Some(row) = txn.lease(request.name).cloned() else {
        return Ok(Err(Refusal::Gone));
    };
    Ok(row.require_renewable(request.token).map(|owner| {
        let ttl = request.ttl.unwrap_or(row.ttl);
        let renewed = row.renewed(owner, ttl, request.meta, txn.now);
        txn.put_lease(request.name.to_name(), renewed);
        txn.now.after(ttl)
    }))
}

/// Gives the lease back if `token` still has it; otherwise does nothing. Whether it did.
///
/// # Errors
/// `PERMISSION_DENIED`.
pub fn release_lease(txn: &mut Txn<'_>, name: NameRef<'_>, token: Token) -> Result<bool, Error> {
    txn.require(Right::Acquire, Realm::Lease, name)?;
    let row = txn.lease(name).filter(|row| row.require_renewable(token).is_ok());
    let released = row.map(|row| row.released(txn.now));
    let did = released.is_some();
    if let Some(row) = released {
        txn.put_lease(name.to_name(), row);
    }
    Ok(did)
}

/// Applies writes while the lease is held. An empty list just asks.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE`, `PERMISSION_DENIED`.
pub fn guarded_commit(
    txn: &mut Txn<'_>,
    name: NameRef<'_>,
    token: Token,
    writes: Vec<Write<'_>>,
) -> Result<Outcome<()>, Error> {
    txn.require(Right::Acquire, Realm::Lease, name)?;
    write::require_allowed(txn, &writes)?;
    if let Err(refusal) = guard::lease(txn, name, token) {
        return Ok(Err(refusal));
    }
    if let Err(check) = write::require_checks(txn, &writes) {
        return Ok(Err(Refusal::Changed(check)));
    }
    write::apply(txn, writes);
    Ok(Ok(()))
}

fn require_meta(meta: Option<&Blob>) -> Result<(), Error> {
    match meta {
        Some(meta) => write::require_size("meta", meta.len(), NOTE_BYTES_MAX),
        None => Ok(()),
    }
}
